#!/usr/bin/env bash
# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
#
# The same on nodes that may be taken away: sbatch slurm-requeue.sh INPUT OUTPUT
# Slurm starts the job again if a node fails or another job preempts it, and so does this script shortly before the time
# limit. The sort then continues with the runs that it kept beside the output, on storage that all nodes share.
#SBATCH --job-name=hetsort
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=0
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
set -euo pipefail
input=$1
output=$2
readonly max_starts=10

if [ "${SLURM_RESTART_COUNT:-0}" -ge "$max_starts" ]; then
  echo "hetsort was started $max_starts times; more time or fewer records are needed" >&2
  exit 1
fi

# The shell gets the signal 120 s before the end. Requeueing ends the ranks.
trap 'scontrol requeue "$SLURM_JOB_ID"' USR1

mkdir -p "$output.checkpoint"
srun --mpi=pmix --cpu-bind=none hetsort sort --checkpoint "$output.checkpoint" "$input" -o "$output" &
wait $!
rmdir "$output.checkpoint"
