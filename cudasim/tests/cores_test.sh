#!/bin/sh
# A launch on several cores leaves the same bits, and prints the same lines in the same order, as on one; and programs
# of `make cu` use all cores, but in check mode. Argument: a compiler.
set -u
cd "$(dirname "$0")/../.." || exit
out=build/cores/$1
mkdir -p "$out"
failed=0
fail() {
    echo "cores_test: $1"
    failed=1
}

make -s --no-print-directory cu-build CC="$1" FILE=cudasim/tests/cores.cu OUT="$out/cores" || exit 1
make -s --no-print-directory cu-build CC="$1" ACCESS=1 FILE=cudasim/tests/cores.cu OUT="$out/cores-access" || exit 1

for schedule in forward reverse random:1; do
    export CUDASIM_SCHED=$schedule
    CUDASIM_THREADS=1 "$out/cores" >"$out/one" 2>/dev/null || fail "$schedule, one core: status $?"
    for round in 1 2 3 4 5; do
        CUDASIM_THREADS=3 "$out/cores" >"$out/three" 2>/dev/null || fail "$schedule, three cores: status $?"
        cmp -s "$out/one" "$out/three" || fail "$schedule, round $round: three cores give other bits or lines than one"
    done
done
unset CUDASIM_SCHED

threads() {
    "$@" 2>&1 >/dev/null | sed -n 's/^threads //p'
}
[ "$(threads env CUDASIM_THREADS=3 "$out/cores")" = 3 ] || fail "CUDASIM_THREADS=3 does not mean three cores"
[ "$(threads "$out/cores")" = "$(env -u OMP_NUM_THREADS nproc)" ] || fail "without CUDASIM_THREADS not all cores are used"
[ "$(threads env CUDASIM_THREADS=3 "$out/cores-access")" = 1 ] || fail "check mode is not on one core"

[ $failed = 0 ] && echo "cores_test: good"
exit $failed
