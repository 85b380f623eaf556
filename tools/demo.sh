#!/bin/sh
# What `make demo` shows: a GPT of a million parameters learns the kit's own text in about a minute;
# then what each technique of the course makes of time and memory.
set -eu
train=$1
"$train" --n_layer 5 --n_head 4 --n_embd 128 --n_positions 128 \
    --per_device_train_batch_size 8 --max_steps 2000 --warmup_steps 100 --learning_rate 0.002 \
    --logging_steps 100 --eval_steps 500 --output_dir runs/demo --save_total_limit 1 --generate 400 \
    --prompt "Memory is "
"${PYTHON:-python3}" tools/table.py "$train" --short
