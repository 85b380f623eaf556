#!/bin/sh
# Everything that only a GPU can tell, in one call of at most nine minutes, the most important first,
# into one log. Uses the pack (make gpu-pack), from inside of it or out of build/; where there is none
# but nvcc is, it makes one first.
#
#   tools/gpu_check.sh            ends with `gpu-check: N good, N FAILED, N skipped`
#   tools/gpu_check.sh --dry-run  the same commands, smaller, in the simulator: is this script right?
#
# LOG=file (gpu-check.log in build/ or in the pack), PYTHON=python3 (with PyTorch, for the comparison), LIMIT=540 seconds.
set -u
python=${PYTHON:-python3}
limit=${LIMIT:-540}
dry=
[ "${1:-}" != --dry-run ] || dry=yes

here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here" || exit 1
# The suites of kernels/*_test.c, as `a|b|c`; a pack has the list.
suites() {
    cat SUITES 2>/dev/null || sed -n 's/^Test(\([a-z0-9_]*\),.*/\1/p' kernels/*_test.c | sort -u | paste -sd '|' -
}
[ "${1:-}" != --suites ] || { suites; exit; }
# What the make that may have started this one has for other makes alone.
MAKEFLAGS=$(printf %s "${MAKEFLAGS:-}" | sed 's/ -j[0-9]*//; s/ --jobserver-[^ ]*//g')
export MAKEFLAGS
[ -d build ] && log=$here/build/gpu-check.log || log=$here/gpu-check.log
log=${LOG:-$log}
if [ $dry ]; then
    make -s all build/bin/bench build/bin/bench-ops || exit 1
    make -s cu-build FILE=cudasim/tests/semantics.cu OUT=build/bin/promises/semantics || exit 1
    programs=build/bin
elif [ -x ./unit ]; then
    programs=.
else
    [ -x build/gpu-pack/unit ] || make gpu-pack || exit 1
    cd build/gpu-pack && programs=.
fi

: >"$log" || exit 1
results=$(dirname "$log")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
began=$(date +%s)
good=0 failed=0 skipped=0 summary=

say() { echo "$@" | tee -a "$log"; }
left() { echo $((limit - $(date +%s) + began)); }
verdict() { summary="$summary
  $1"; }

# bounded PROGRAM...: for as long as the present check may take.
bounded() {
    rest=$((end - $(date +%s)))
    [ $rest -gt 0 ] || return 124
    timeout $rest "$@"
}

# check NAME SECONDS FUNCTION...: runs it for at most so long, and as long as there is time at all.
# Its programs are run by `bounded`. Status 77: it cannot be done here; the last line says why.
check() {
    name=$1 seconds=$2
    shift 2
    if [ "$(left)" -lt 5 ]; then
        skipped=$((skipped + 1))
        verdict "skipped  $name: time is up"
        return
    fi
    [ "$seconds" -le "$(left)" ] || seconds=$(left)
    say ""
    say "== $name"
    start=$(date +%s)
    end=$((start + seconds))
    ("$@") >"$work/part.log" 2>&1
    status=$?
    cat "$work/part.log" >>"$log"
    tail -n 60 "$work/part.log"
    took="($(($(date +%s) - start)) s)"
    if [ $status = 77 ]; then
        skipped=$((skipped + 1))
        verdict "skipped  $name $took: $(tail -n 1 "$work/part.log")"
    elif [ $status = 0 ]; then
        good=$((good + 1))
        verdict "good     $name $took"
    elif [ $status = 124 ]; then
        failed=$((failed + 1))
        verdict "FAILED   $name: not done after $seconds s"
    else
        failed=$((failed + 1))
        verdict "FAILED   $name $took: status $status"
    fi
}

# ---- what this machine has ------------------------------------------------------------------
# cuBLAS comes with CUDA or with PyTorch; it is in no pack.
find_cublas() {
    ldd "$programs/unit" | grep -q 'libcublas.*not found' || return 0
    for folder in /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib /usr/lib/x86_64-linux-gnu \
        $("$python" -c 'import nvidia, glob
for root in nvidia.__path__: print(*glob.glob(root + "/*/lib"))' 2>/dev/null); do
        if [ -e "$folder/libcublas.so.13" ]; then
            LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
            export LD_LIBRARY_PATH
            return 0
        fi
    done
    say "no libcublas.so.13 here: it comes with CUDA 13 and with PyTorch for it"
    exit 1
}

# Without a GPU nothing below says more than this does.
find_gpu() {
    "$programs/bench" --device gpu --layers 1 --width 32 --heads 2 --time 16 --batch 1 --steps 1 >"$work/part.log" 2>&1 &&
        return
    say "no step runs on a GPU here: $(tail -n 1 "$work/part.log")"
    exit 1
}

describe() {
    say "gpu-check $(date -u +%Y-%m-%dT%H:%MZ), commit $(cat COMMIT 2>/dev/null || git rev-parse --short HEAD)"
    if [ $dry ]; then
        say "DRY RUN in the simulator: no figure below means anything"
    else
        nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv,noheader \
            2>&1 | tee -a "$log"
    fi
    "$python" -c 'import torch; print("PyTorch", torch.__version__, torch.cuda.is_available() and torch.cuda.get_device_name())' \
        2>/dev/null | tee -a "$log" || true
}

# ---- the checks -----------------------------------------------------------------------------
export OMP_NUM_THREADS=2 TRAIN="$programs/train"
train=$programs/train
ops="@($(suites))/*"
small="--device gpu --n_layer 2 --n_head 4 --n_embd 64 --n_positions 65 --dropout 0.1
    --per_device_train_batch_size 2 --eval_fraction 0 --max_steps 1"
if [ $dry ]; then
    large="$small"
    bench_ops=--small
    bench_steps=
    series="--size tiny"
    profiled="$small --bf16 --attention flash --max_steps 3"
else
    large="--device gpu --n_layer 12 --n_head 12 --n_embd 768 --n_positions 1024 --vocab_size 50257
        --per_device_train_batch_size 4 --eval_fraction 0 --max_steps 5 --logging_steps 1"
    bench_ops=
    bench_steps="--only gpt2-124M"
    series="--size seeds --sequences 32"
    profiled="$large --bf16 --attention flash --per_device_train_batch_size 8 --max_steps 8"
fi

# both PROGRAM...: with plain and with flash attention.
both() {
    for attention in plain flash; do
        bounded "$@" --attention $attention || return
    done
}

# Counted is predicted, and what the driver takes for itself is a line of its own.
memory() {
    # shellcheck disable=SC2086 # lists of words
    both "$train" $large >"$work/memory.log" 2>&1
    status=$?
    cat "$work/memory.log"
    [ $status = 0 ] && ! grep -q differs "$work/memory.log"
}

# last_loss DEVICE OPTION...: of a short run, whose output folder is in $work/DEVICE.
last_loss() {
    on=$1
    shift
    rm -rf "${work:?}/$on"
    bounded "$train" --device "$on" --n_layer 2 --n_head 4 --n_embd 64 --n_positions 64 --dropout 0.1 --eval_fraction 0 \
        --per_device_train_batch_size 4 --max_steps 6 --logging_steps 1 --output_dir "$work/$on" "$@" >"$work/run.log" 2>&1 ||
        { cat "$work/run.log"; return 1; }
    sed -n 's/.*"step":6,"loss":\([^,}]*\).*/\1/p' "$work/$on/metrics.jsonl"
}

# off_by BOUND WANTED GOT WHAT
off_by() {
    echo "$1 $2 $3" | awk -v what="$4" '{ off = ($3 - $2) / $2; if (off < 0) off = -off
        printf "%-80s %s  %s  off by %.1e%s\n", what, $2, $3, off, off <= $1 ? "" : "  TOO MUCH"; exit !(off <= $1) }'
}

# What each technique computes on the GPU is what it computes on the CPU.
techniques() {
    wrong=0
    while read -r bound options; do
        # shellcheck disable=SC2086
        cpu=$(last_loss cpu $options) && gpu=$(last_loss gpu $options) ||
            { echo "$options: $cpu $gpu"; wrong=1; continue; }
        off_by "$bound" "$cpu" "$gpu" "$options, to the CPU" || wrong=1
    done <<END
1e-5 --gradient_accumulation_steps 2
1e-5 --attention flash
1e-5 --gradient_checkpointing --checkpoint_attention
3e-4 --fp16 --initial_scale_power 24
1e-3 --bf16 --attention flash
1e-5 --fused_norm --fused_head
1e-5 --lora_r 4 --lora_target_modules c_attn,c_proj --lora_dropout 0.1
1e-4 --optim adafactor
1e-4 --optim adamw_8bit
END
    # The captured step has AdamW in another kernel: other roundings (docs/numerics.md).
    plain=$(last_loss gpu --fp16) && cp "$work/gpu/checkpoint-6/model.safetensors" "$work/plain" && captured=$(last_loss gpu --fp16 --cuda_graph) &&
        off_by 3e-5 "$plain" "$captured" "--fp16 --cuda_graph, to the run without" || wrong=1
    # These change when something is done, and not what: the same bits.
    for options in "--gradient_checkpointing --activation_offload" "--dataloader_num_workers 2" "--dataloader_num_workers 2 --dataloader_pin_memory false" --check_launches; do
        # shellcheck disable=SC2086
        last_loss gpu --fp16 $options >"$work/loss" && cmp "$work/gpu/checkpoint-6/model.safetensors" "$work/plain" &&
            echo "$options: the bits of the run without" || { echo "$options: NOT as without ($plain): $(cat "$work/loss")"; wrong=1; }
    done
    return $wrong
}

# What the simulator's own tests say of CUDA, asked of CUDA. Each program ends with status 0.
promises() {
    wrong=0
    for program in "$programs"/promises/*; do
        [ "$end" -gt "$(date +%s)" ] || return 124
        timeout 20 "$program" >"$work/said" 2>&1 && echo "good $(basename "$program"): $(tail -n 1 "$work/said")" && continue
        echo "WRONG $(basename "$program"), status $?: $(tail -n 5 "$work/said")"
        wrong=1
    done
    return $wrong
}

# sanitizer TOOL: status 77 where the tool is not there, or not for this machine.
sanitizer() {
    command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer here"; return 77; }
    # Plain attention in float, and flash attention on tensor cores.
    (for options in "--attention plain" "--attention flash --bf16"; do
        # shellcheck disable=SC2086
        bounded compute-sanitizer --tool "$1" --error-exitcode 99 "$train" $small $options || exit
    done) >"$work/sanitizer.log" 2>&1
    status=$?
    cat "$work/sanitizer.log"
    if grep -q 'not supported\|Failed to initialize' "$work/sanitizer.log"; then
        echo "compute-sanitizer cannot work here"
        return 77
    fi
    return $status
}

ops_bench() {
    for precision in bf16 f16 f32; do
        # shellcheck disable=SC2086
        bounded "$programs/bench-ops" --device gpu --precision $precision $bench_ops --json "$results/ops-$precision.jsonl" || return 1
    done
}

# Where the time of a step goes, op by op: tools/step_bound.py puts it beside the least time.
profile() {
    # shellcheck disable=SC2086
    bounded "$train" $profiled --profile >"$results/profile-bf16.txt" 2>&1
    status=$?
    cat "$results/profile-bf16.txt"
    return $status
}

# Nothing new begins in the last minute: torch.compile alone takes half of one.
step_bench() {
    rest=$((end - $(date +%s) - 60))
    # shellcheck disable=SC2086
    bounded "$python" tools/bench/bench.py "$programs/bench" --device gpu --rounds 1 --limit $((rest > 1 ? rest : 1)) $bench_steps
}

# Vanilla, accumulation, checkpointing, fp16 at the published size, to the byte.
series() {
    # shellcheck disable=SC2086
    bounded "$python" tools/table.py "$train" --device gpu $series
}

unit() { bounded "$programs/unit" -j4 --filter "$1"; }

[ $dry ] || find_cublas
describe
find_gpu
check "op tests on CPU and GPU, three precisions" 150 unit "$ops"
check "a training step against the CPU" 60 unit 'gpu/step*'
check "gradients of a whole model against double" 60 unit 'model/gradients*'
check "the same bits on each run" 60 unit 'gpu/same_bits*'
check "peak bytes against predictions" 60 memory
check "each technique, as on the CPU" 90 techniques
check "CUDA does what the simulator's tests say of it" 60 promises
check "everything else of the device and of train" 60 unit 'gpu/!(same_bits*|step*)'
check "compute-sanitizer memcheck" 60 sanitizer memcheck
check "compute-sanitizer racecheck" 60 sanitizer racecheck
check "where the time of a step goes" 60 profile
check "bench: each op against the copy rate and the matmul rate" 120 ops_bench
check "the series, to the byte" 120 series
check "bench: training steps, beside PyTorch" 200 step_bench

# The page is in a checkout alone, and its table needs the simulator.
if [ -f "$here/docs/gpu.md" ] && [ -s "$results/profile-bf16.txt" ]; then
    cd "$here" || exit 1
    [ ! $dry ] || cp docs/gpu.md "$work/gpu.md"
    gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
    make -s build/bin/train build/bin/makespan >>"$log" 2>&1 &&
        PAGE=$([ $dry ] && echo "$work/gpu.md" || echo docs/gpu.md) "$python" tools/step_bound.py \
            --measured "$results/profile-bf16.txt" --on "${gpu:-a simulated GPU}, $(date -u +%Y-%m-%d)" 2>&1 | tee -a "$log"
fi

say ""
say "gpu-check, $(($(date +%s) - began)) s:$summary"
say "gpu-check: $good good, $failed FAILED, $skipped skipped; all of it in $log"
[ $failed = 0 ]
