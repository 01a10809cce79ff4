#!/bin/bash
# A sweep over the tasks of a Slurm array, each on a GPU of its own:
#   id=$(sbatch --parsable docs/examples/slurm-array.sh)
#   sbatch --dependency=afterok:$id --wrap 'coalprof merge shard.*.json -o all.json'
# A task that is preempted and started again goes on where it was.
#SBATCH --array=1-8
#SBATCH --gpus=1
#SBATCH --requeue
exec coalprof stride --range 1..1024 --shard auto --backend device --resume -q -o "shard.$SLURM_ARRAY_TASK_ID.json" > /dev/null
