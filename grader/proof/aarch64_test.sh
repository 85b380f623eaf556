#!/bin/sh
# The kit for aarch64, built here and run by qemu: unit tests of what differs between processors, the simulator's own
# programs with pages of 4 and of 64 KiB, some of its broken ones, and a short training run on both devices.
#
#   grader/proof/aarch64_test.sh [units|simulator|demo]   one part; none: all of them
set -eu
cd "$(dirname "$0")/../.."
arm=tools/aarch64.sh
suites='adamw|axpby|bf16|cast|collective|crash|crossentropy|data|dropout|embedding|fault|files|gelu|half|layernorm|matmul|memory|philox|residual|rng|safetensors|sandbox_filter|scale|snapshot|sumsq|tensors|text|unscale|vocab'
build=$($arm make -s print-build)
out=$build/proof
mkdir -p "$out"

fail() {
    echo "aarch64_test: $*" >&2
    exit 1
}

units() {
    $arm make -s -j"$(nproc)" "$build/bin/unit"
    $arm tools/unit.sh "$build" --filter "@($suites)/*"
}

simulator() {
    $arm sh -c '$CC $CPPFLAGS -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC grader/proof/pages_64k.c -o "$1" $LDFLAGS' sh "$out/pages_64k.so"
    for name in semantics cores half lines cublas accesses; do
        $arm make -s cu-build FILE=cudasim/tests/$name.cu OUT="$out/$name"
        $arm "$out/$name" >"$out/$name.said" || fail "$name.cu fails"
        QEMU_SET_ENV="LD_PRELOAD=$PWD/$out/pages_64k.so" $arm "$out/$name" >"$out/$name.said" || fail "$name.cu fails with pages of 64 KiB"
    done
    # Faults that read and that write, memory beside the end, an endless loop.
    for name in host_reads_device_pointer host_writes_device_pointer dynamic_shared_off_by_one endless_in_thread; do
        $arm cudasim/tests/broken.py --cc aarch64-linux-gnu-gcc --mode fast --filter "/$name.cu"
    done
    # A stack that is full: a function makes its room where it begins, so that line is the one, not the call.
    $arm make -s cu-build FILE=cudasim/broken/endless_recursion.cu OUT="$out/endless_recursion"
    $arm "$out/endless_recursion" >"$out/endless_recursion.said" 2>&1 && fail "endless_recursion.cu ends well"
    grep 'stack overflow: .* at endless_recursion.cu:5 (depth)' "$out/endless_recursion.said"
}

# One seed, three runs: threads change no bit, and the simulated GPU ends near the CPU.
demo() {
    $arm make -s -j"$(nproc)" "$build/bin/train"
    rm -rf "$out/demo"
    for run in cpu:1 cpu:2 gpu:2; do
        OMP_NUM_THREADS=${run#*:} $arm "$build/bin/train" --device "${run%:*}" --n_layer 2 --n_embd 32 --n_head 2 --n_positions 32 \
            --per_device_train_batch_size 4 --max_steps 10 --eval_fraction 0 --output_dir "$out/demo/$run" | tail -n 1
    done
    cmp "$out/demo/cpu:1/checkpoint-10/model.safetensors" "$out/demo/cpu:2/checkpoint-10/model.safetensors"
    losses="$(for run in cpu:1 gpu:2; do sed -n 's/.*"loss": *\([0-9.]*\).*/\1/p' "$out/demo/$run/metrics.jsonl" | tail -n 1; done)"
    echo "$losses" | awk 'NR == 1 { cpu = $1 } NR == 2 { off = $1 > cpu ? $1 - cpu : cpu - $1; exit !(off < 0.001) } END { exit NR != 2 || off >= 0.001 }' ||
        fail "the losses of the devices are $losses"
}

for part in ${1:-units simulator demo}; do
    $part
done
echo "aarch64_test: good"
