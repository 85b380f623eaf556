#!/bin/sh
# One task of a Slurm array: its part of a class. grade_all.py --slurm submits it; started again, it
# goes on where it was.
exec tools/grade_all.py "$@" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
