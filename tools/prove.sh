#!/bin/sh
# The long proofs: what make test leaves out because it takes too long for every day. CI runs both.
#
#   tools/prove.sh          ends with `prove: N passed, N failed`
set -u
passed=0
failed=0
log=build/prove.log
mkdir -p build
: >$log

# prove NAME COMMAND...: runs a proof, keeps its output for the case that it fails.
prove() {
    name=$1
    shift
    started=$(date +%s)
    if "$@" >build/proof.log 2>&1; then
        passed=$((passed + 1))
        verdict=good
    else
        failed=$((failed + 1))
        verdict=FAILED
    fi
    echo "== $name" >>$log
    cat build/proof.log >>$log
    echo "prove: $verdict  $name ($(($(date +%s) - started)) s)"
    [ $verdict = good ] || tail -n 40 build/proof.log
}

# The unit tests in another build of the kit.
unit() {
    make -s -j"$(nproc)" "$@" all &&
        folder=$(make -s "$@" print-build) &&
        OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 TRAIN="$folder/bin/train" "$folder/bin/unit"
}

# Every page of the handbook, every link in it.
docs() { make -s docs; }

# The readers on the inputs that fuzzing found worth keeping.
corpus() { make -s SAN=1 OPT="-O1 -g" replay; }

prove "make check" make -s check
prove "handbook without a warning, every link followed" docs
prove "unit tests: clang -O0" unit CC=clang OPT="-O0 -g"
prove "unit tests: gcc, address and undefined behaviour sanitizers" unit SAN=1 OPT="-O1 -g"
prove "unit tests: clang -O3" unit CC=clang
prove "unit tests: NaN in freed memory" unit CHECKED=1
prove "unit tests: no BLAS" unit BLAS=none
prove "fuzz corpora under sanitizers" corpus
prove "mutants of the kit" tools/kit_mutants.py
echo "prove: $passed passed, $failed failed"
[ $failed = 0 ]
