#!/bin/bash
# A sweep over the tasks of a Slurm array, each on a GPU of its own:
#   id=$(sbatch --parsable docs/examples/slurm-array.sh)
#   sbatch --dependency=afterok:$id --wrap 'coalprof merge shard.*.json -o all.json'
# A task that is preempted and started again goes on where it was, and so does one that is submitted again:
#   sbatch --array=3 docs/examples/slurm-array.sh
# "auto/8" says that there are 8, which Slurm does not tell then: task 3 is shard 3/8.
#SBATCH --array=1-8
#SBATCH --gpus=1
#SBATCH --requeue
exec coalprof stride --range 1..1024 --shard auto/8 --backend device --resume -q -o "shard.$SLURM_ARRAY_TASK_ID.json" > /dev/null
