#!/bin/sh
# Compiles every source with gcc and with clang, warnings as errors, and keeps nothing.
#
#   tools/warnings.sh BLAS_ONEDNN
set -eu
blas=${1:+-D$1}
common="-I. -std=gnu11 -O2 -march=native -fopenmp -fno-math-errno -fno-trapping-math -Werror
    -Wall -Wextra -Wshadow -Wundef -Wwrite-strings -Wdouble-promotion -Wvla -Wstrict-prototypes
    -Wmissing-prototypes $blas"

# One line for each compilation: source, then its own flags.
list() {
    for source in $(find kernels common grader -name '*.c'); do
        own=
        case $source in
        */fuzz/* | *_test.c | grader/*) ;;
        *) own='-Wconversion -Wno-sign-conversion' ;;
        esac
        case $source in
        common/absent.c)
            for hole in bytes loop accumulate checkpoint scaler; do
                echo "$source -DABSENT_$hole $own"
            done ;;
        kernels/*_test.c) echo "$source $own" ;;
        kernels/*.c) for real in F32 F16 BF16; do echo "$source -DREAL_$real $own"; done ;;
        *) echo "$source $own" ;;
        esac
    done
    for source in $(find solutions -name '*.c'); do echo "$source -DSOLUTION"; done
    for source in $(find labs -name '*.c'); do echo "$source"; done
}

jobs=$(nproc 2>/dev/null || echo 2)
for compiler in gcc clang; do
    if ! command -v $compiler >/dev/null; then
        echo "warnings: $compiler is not installed: skipped"
        continue
    fi
    own=
    [ $compiler = gcc ] || own='-Wno-pass-failed' # simd loops that clang leaves as they are
    # shellcheck disable=SC2086
    list | xargs -P "$jobs" -I{} sh -c "$compiler $(echo $common) $own -c {} -o /dev/null"
    echo "warnings: none with $($compiler --version | head -n 1)"
done
