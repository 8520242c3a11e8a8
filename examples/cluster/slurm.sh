#!/usr/bin/env bash
# Runs a suite as a Slurm array job, one task per shard, and merges the results.
#
#   examples/cluster/slurm.sh SUITE.toml RESULTS.jsonl SHARDS
#
# The suite, its scenes and the folder of the results lie on a file system that all nodes share. Shards
# that fail or are killed are submitted again, up to TRIES times in all (default 3); a shard continues
# with its first missing row, and one that is complete ends at once. Slurm reads the partition, the
# account, the time limit and so on from its own variables (SBATCH_PARTITION, SBATCH_TIMELIMIT, ...).
# QUADRILLE names the program, and CPUS the cores per shard (default 1).
set -euo pipefail

if [ $# -ne 3 ]; then
    echo "usage: $0 SUITE.toml RESULTS.jsonl SHARDS" >&2
    exit 2
fi
suite=$1 results=$2 shards=$3
program=${QUADRILLE:-quadrille}
cpus=${CPUS:-1}
bench=("$program" bench "$suite" -o "$results")

# The task of shard I; Slurm sets SLURM_ARRAY_TASK_ID to I.
task=$(printf '%q ' "${bench[@]}" --quiet --threads "$cpus")
task+="--shard \$SLURM_ARRAY_TASK_ID/$shards"

for try in $(seq "${TRIES:-3}"); do
    # sbatch --wait exits with the highest exit code of the tasks.
    if sbatch --wait --array="1-$shards" --cpus-per-task="$cpus" --job-name=quadrille \
        --output="$results.%A_%a.log" --wrap="exec $task"; then
        break
    fi
    echo "attempt $try: a shard has failed" >&2
done
exec "${bench[@]}" --merge
