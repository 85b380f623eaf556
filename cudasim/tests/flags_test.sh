#!/bin/sh
# A volatile flag after a fence is a note in check mode, a race with CUDASIM_STRICT=1; a negative size is a note; a kernel that
# CUDASIM_WITHOUT names does nothing; the launch that CUDASIM_REFUSE counts off is refused; CUDASIM_BLOCKS=1 runs a launch of one block whole; with CUDASIM_EXITED=1 a barrier does not wait for threads that have left. No header has a name that a program's macros have:
# cudasim/tests/flags_test.sh [COMPILER]
cd "$(dirname "$0")/../.." || exit
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
make -s cu-build FILE=cudasim/tests/flags.cu OUT="$dir/flags" ACCESS=1 CC="${1:-gcc}" || exit

wrong() {
    echo "flags: FAILED: $1"
    sed 's/^/  /' "$dir/said"
    exit 1
}
"$dir/flags" flag >"$dir/said" 2>&1 || wrong "a right program ends with status $?"
grep -q 'note: a volatile flag orders two threads at flags.cu' "$dir/said" || wrong "no note"
[ "$(grep -c '^.cudasim.' "$dir/said")" = 1 ] || wrong "more than a note"

"$dir/flags" size >"$dir/said" 2>&1 || wrong "a negative size: the status is $?"
grep -q 'note: cudaMalloc at flags.cu:.* is asked for a negative size' "$dir/said" || wrong "a negative size: no note"
grep -q ' -8 bytes, and as a size 18446744073709551608: ' "$dir/said" || wrong "a negative size: not said which"

CUDASIM_STRICT=1 "$dir/flags" flag >"$dir/said" 2>&1
[ $? = 86 ] || wrong "strict: the status is not 86"
grep -q '^.cudasim. race: shared memory' "$dir/said" || wrong "strict: no race"

"$dir/flags" exit >"$dir/said" 2>&1
[ $? = 86 ] || wrong "threads that have left: the status is not 86"
grep -q 'wait only for threads that have not left' "$dir/said" || wrong "not said how GPUs since Volta wait"
CUDASIM_EXITED=1 "$dir/flags" exit >"$dir/said" 2>&1 || wrong "CUDASIM_EXITED=1: the status is $?"
grep -q '^.cudasim.' "$dir/said" && wrong "CUDASIM_EXITED=1: a report"

CUDASIM_WITHOUT=hand_over,add_locked "$dir/flags" >"$dir/said" 2>&1
printf '0, expected 2016\n1, expected 1\n' | cmp -s - "$dir/said" || wrong "add_locked was not left out alone"
CUDASIM_BLOCKS=1 "$dir/flags" >"$dir/said" 2>&1 || wrong "CUDASIM_BLOCKS=1: the status is $?"
CUDASIM_REFUSE=2 "$dir/flags" >"$dir/said" 2>&1
[ $? = 86 ] || wrong "CUDASIM_REFUSE=2: the status is not 86"
[ "$(grep -c 'launch failed: .* did not run: CUDASIM_REFUSE=2' "$dir/said")" = 1 ] || wrong "CUDASIM_REFUSE=2 refuses another number of launches than one"
# From the command line, so before the header that each .cu file begins with.
macros=
for name in A B C D E F G H I J K L M N O P Q R S T U V W X Y Z \
    BLOCK BLOCKS TILE SIZE WARP LANES ROWS COLUMNS COUNT PIECES WIDTH HEIGHT LENGTH INDEX TYPE MAX MIN DIM DEPTH; do
    macros="$macros -D$name=64"
done
for access in "" 1; do
    make -s cu-build FILE=cudasim/tests/letters.cu OUT="$dir/letters" ACCESS=$access CC="${1:-gcc}" DEFINES="$macros" >"$dir/said" 2>&1 ||
        wrong "a header does not bear a macro of a program"
    "$dir/letters" >"$dir/said" 2>&1 || wrong "with macros of one letter the program ends with status $?"
done
printf '#include <%s>\n' cuda_runtime.h cuda_fp16.h cuda_bf16.h cuComplex.h cublas_v2.h cublasLt.h curand.h nccl.h cuda_profiler_api.h nvtx3/nvToolsExt.h >"$dir/letters.c"
# shellcheck disable=SC2086
"${1:-gcc}" -std=c11 -fsyntax-only -Icudasim/include $macros "$dir/letters.c" >"$dir/said" 2>&1 || wrong "in C a header does not bear a macro of a program"
echo "flags: a note, and strictly a race; what is left out does nothing"
