#!/bin/sh
# Compiles every source with gcc and with clang, warnings as errors, and keeps nothing.
#
#   tools/warnings.sh BLAS_ONEDNN
set -eu

common="-I. -Icudasim/include -Igrader/proof/example -O2 -march=native -fopenmp -fno-math-errno
    -fno-trapping-math -Werror -Wall -Wextra -Wshadow -Wundef -Wwrite-strings -Wdouble-promotion
    -Wvla"

# compile COMPILER SOURCE FLAGS...: C as it is, CUDA on the simulator's way (Makefile, compile_cu).
compile() {
    compiler=$1 source=$2
    shift 2
    case $compiler in
    clang) own='-Wno-pass-failed -Qunused-arguments' ;; # simd loops that clang leaves as they are
    *) own= ;;
    esac
    case $source in
    *.cu)
        case $compiler in gcc) compiler=g++ ;; *) compiler=clang++ ;; esac
        flags="-std=c++17 $common $own -fstack-clash-protection -Wno-sign-compare -Wno-unknown-pragmas"
        text=$(mktemp)
        trap 'rm -f "$text" "$text.ii"' EXIT
        # shellcheck disable=SC2086 # lists of words
        $compiler -E -x c++ $flags -D__CUDACC__ "$@" -include cuda_runtime.h "$source" -o "$text" &&
            build/cu2cpp "$text" "$text.ii" &&
            $compiler -x c++-cpp-output $flags -c "$text.ii" -o /dev/null ;;
    *)
        # shellcheck disable=SC2086
        $compiler -std=gnu11 "$@" $common -Wstrict-prototypes -Wmissing-prototypes $own \
            -c "$source" -o /dev/null ;;
    esac
}

if [ "${1:-}" = --compile ]; then
    shift
    compile "$@"
    exit
fi

# shellcheck disable=SC2044 # no name here has a space
# One line for each compilation: source, then its own flags.
list() {
    for source in $(find kernels common train cudasim grader tools build/labs/absent \( -path grader/attacks -o -path grader/proof/example \) -prune -o -name '*.c' -print); do
        own=
        case $source in
        */fuzz/* | *_test.c | grader/* | tools/* | train/show/*) ;;
        *) own='-Wconversion -Wno-sign-conversion' ;;
        esac
        case $source in
        cudasim/mpi/*) [ -z "$mpi" ] || echo "$source $mpi $own" ;;
        common/comm_mpi.c)
            echo "$source $own"
            [ -z "$mpi" ] || echo "$source -DWITH_MPI $mpi $own" ;;
        common/nccl_absent.c) echo "$source -DNO_NCCL -Icudasim/absent $own" ;;
        kernels/*_test.c) echo "$source $own" ;;
        kernels/*.c) for real in F32 F16 BF16; do echo "$source -DREAL_$real $own"; done ;;
        *) echo "$source $own" ;;
        esac
    done
    for source in $(find solutions labs -name '*.c'); do echo "$source"; done
    for real in F32 F16 BF16; do
        for source in kernels/*.cu; do echo "$source -DREAL_$real"; done
        for source in $(find solutions -name '*.cu'); do
            echo "$source -DREAL_$real"
            echo "$source -DREAL_$real -DSTUB"
        done
    done
}

blas=${1:+-D$1}
# As a system's headers: they are not ours to mend.
mpi=$(pkg-config --cflags ompi-c 2>/dev/null | sed 's/-I/-isystem/g')
jobs=$(nproc 2>/dev/null || echo 2)
for compiler in gcc clang; do
    if ! command -v $compiler >/dev/null; then
        echo "warnings: $compiler is not installed: skipped"
        continue
    fi
    list | xargs -P "$jobs" -I{} sh -c "tools/warnings.sh --compile $compiler {} $blas"
    echo "warnings: none with $($compiler --version | head -n 1)"
done
