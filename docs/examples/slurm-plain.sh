#!/usr/bin/env bash
# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
#
# Sorts a file that all nodes see: sbatch slurm-plain.sh INPUT OUTPUT
# One rank on each node uses all its processors. Nodes of different speed need no options: ranks measure their speed.
#SBATCH --job-name=hetsort
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=0
#SBATCH --time=01:00:00
set -euo pipefail
input=$1
output=$2

# Runs that do not fit in memory spill to the node's own disk. Three quarters of the node's memory is the default of -S.
temp=${SLURM_TMPDIR:-/tmp}

# With an Open MPI or MPICH that was built without Slurm's PMI, use mpirun instead of srun.
srun --mpi=pmix --cpu-bind=none hetsort sort -T "$temp" --report "report-$SLURM_JOB_ID.json" "$input" -o "$output"
