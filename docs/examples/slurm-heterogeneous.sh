#!/usr/bin/env bash
# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
#
# A heterogeneous job: two nodes of a fast partition and four of a slow one sort together.
#   sbatch slurm-heterogeneous.sh INPUT OUTPUT [CLUSTER.toml]
# A cluster file made by `hetsort calibrate` on the same nodes plans their shares; without it ranks measure their speed.
#SBATCH --job-name=hetsort
#SBATCH --time=01:00:00
#SBATCH --partition=fast --nodes=2 --ntasks-per-node=1 --cpus-per-task=64 --mem=0
#SBATCH hetjob
#SBATCH --partition=slow --nodes=4 --ntasks-per-node=1 --cpus-per-task=16 --mem=0
set -euo pipefail
input=$1
output=$2
plan=()
[ $# -lt 3 ] || plan=(--cluster "$3")

temp=${SLURM_TMPDIR:-/tmp}
# Both components of the job are one MPI job: ranks 0 and 1 are fast, ranks 2 to 5 slow.
srun --het-group=0,1 --mpi=pmix --cpu-bind=none hetsort sort -T "$temp" "${plan[@]}" "$input" -o "$output"
