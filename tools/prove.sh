#!/bin/sh
# The long proofs: what make test leaves out because it takes too long for every day. CI runs both.
#
#   tools/prove.sh          ends with `prove: N passed, N failed`
set -u
passed=0
failed=0
log=build/prove.log
failures=build/prove-failed.log
mkdir -p build
: >$log
: >$failures

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
    if [ $verdict = FAILED ]; then
        tail -n 40 build/proof.log
        {
            echo "prove: FAILED  $name:"
            grep -aE 'FAIL|WRONG|survived|error:' build/proof.log | head -n 12
            tail -n 12 build/proof.log
        } >>$failures
    fi
}

# The unit tests in another build of the kit.
unit() {
    make -s -j"$(nproc)" "$@" all &&
        folder=$(make -s "$@" print-build) &&
        tools/unit.sh "$folder"
}

# Everything that runs on the simulated GPU, each access looked at, in the order SCHEDULE.
checked() {
    make -s -j"$(nproc)" CHECK=1 "$2" all &&
        folder=$(make -s CHECK=1 "$2" print-build) &&
        CUDASIM_SCHED=$1 tools/unit.sh "$folder" --filter \
            '@(adamw|attention|cast|crossentropy|dropout|embedding|flash|gelu|gpu|layernorm|matmul|matrix|model|residual|scale|sumsq|unscale)/*'
}

# The simulator's own tests: programs that know what CUDA promises, in every build of it.
simulator() {
    for settings in CC=gcc CC=clang "CC=gcc CHECK=1" "CC=clang CHECK=1" "CC=gcc DEBUG=1"; do
        for program in kernels/cudasim/tests/*.cu; do
            for schedule in forward reverse random:1; do
                # shellcheck disable=SC2086 # a list of words
                make -s cu FILE="$program" SCHED=$schedule $settings || {
                    echo "$program, $schedule, $settings"
                    return 1
                }
            done
        done
    done
    tools/cu2cpp_test.py build/cu2cpp && tools/unsupported_test.sh && tools/lint_test.sh
}

# The grader is graded: see tools/grader_proof.py.
graded() {
    make -s -j"$(nproc)" graders && tools/grader_proof.py "$@"
}
# Attacks mostly wait for the limit that ends them.
attacks() { JOBS=4 graded attacks "$@"; }

# Without Landlock that is level 1, and whoever asks for 2 gets no grade.
old_container() {
    make -s build/bin/contained && make -s grade00 FROM=solutions || return
    ! build/bin/contained --old make -s grade00 FROM=solutions MIN_SANDBOX=2 >build/old.log 2>&1 &&
        grep 'level 1' build/old.log && build/bin/contained --old make -s grade00 FROM=solutions
}

# Every second name that a judge's own process may take is there already, and another user's: as after
# many that were killed.
taken_names() {
    graded solutions --lab 00 &&
        # shellcheck disable=SC2016 # for the inner shell
        unshare -m sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm &&
            seq -f /dev/shm/bxfi_%.0f $$ 2 $(($$ + 20000)) | xargs touch &&
            tools/grader_proof.py solutions --lab 00 --setting user'
}

# Two hundred hand-ins, as `make class-test` has them.
class() { make -s class-test ARGS="--hand-ins ${HAND_INS:-200}"; }
class_on_slurm() {
    make -s class-test-programs &&
        tools/slurm_local.sh tools/class_test.py --slurm 3 --lab 00_bytes --hand-ins 40 --out build/class-slurm
}

# Two labs at once: each has a folder of its own, and a walk leaves one core free.
walks() {
    make -s class-test-programs || return
    tools/walk_test.py --lab 04 >build/walk04.log 2>&1 &
    tools/walk_test.py --lab 05
    fifth=$?
    wait $!
    fourth=$?
    cat build/walk04.log
    return $((fifth + fourth))
}

# Exports against their schemas.
exports() { make -s build/bin/record && tools/export_test.py; }
graded_clang() {
    make -s -j"$(nproc)" GRADE_CC=clang graders && tools/grader_proof.py solutions --compiler clang --seeds 2
}

# Wrong solutions lose on the other device too. Of lab 05 those whose windows train there: its ops run
# in the simulator anyway, and its scaler on no device.
graded_gpu() {
    graded mutants --lab 01,03 --device gpu &&
        tools/grader_proof.py mutants --lab 05 --only mixed.c --device gpu
}

# With nvcc everything compiles and links, for two GPUs and the toolkit's default, without a warning.
nvcc_builds() {
    for arch in "" sm_80 sm_90; do
        make -s -j"$(nproc)" BACKEND=cuda CUDA_ARCH=$arch WERROR=1 all bench-programs || return
        echo "BACKEND=cuda CUDA_ARCH=$arch: built"
    done
}

# Every page of the handbook, every link in it.
docs() { make -s docs; }

# The readers on the inputs that fuzzing found worth keeping.
corpus() { make -s SAN=1 OPT="-O1 -g" replay; }

prove "make check" make -s check
prove "handbook without a warning, every link followed" docs
prove "unit tests: clang -O0" unit CC=clang OPT="-O0 -g"
prove "unit tests: gcc, address and undefined behaviour sanitizers" unit SAN=1 OPT="-O1 -g"
prove "unit tests: clang -O3, NaN in freed memory" unit CC=clang CHECKED=1
prove "unit tests: no BLAS" unit BLAS=none
prove "CUDA lint: what clang's own front end says of every .cu" make -s lint
prove "simulator: its own tests, both compilers" simulator
prove "simulator: broken programs, each caught" tools/broken.py
prove "check mode: ops and whole steps, reverse, clang" checked reverse CC=clang
prove "check mode: ops and whole steps, random:1, gcc" checked random:1 CC=gcc
prove "check mode: what the kernels ask of the memory" make -s profile-check
prove "bench programs run and count right" make -s bench-check
prove "what the GPU check does, in the simulator" tools/gpu_check.sh --dry-run
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    prove "nvcc: sm_80, sm_90 and the default, without a warning" nvcc_builds
else
    echo "prove: left out  nvcc builds: there is no nvcc here"
fi
prove "grader: stubs earn nothing, solutions everything" graded stubs solutions --seeds 4
prove "grader: solutions compiled by clang" graded_clang
prove "grader: mutants lose on the simulated GPU" graded_gpu
prove "grader: mutants lose, variants do not" graded mutants variants
prove "grader: attacks earn nothing" attacks
if [ "$(id -u)" = 0 ]; then
    prove "grader: attacks, graded by a user without rights" attacks --setting user
    prove "grader: attacks, graded where a container denies system calls" attacks --setting contained
    prove "grader: no grade where Landlock is denied" old_container
    if unshare -m mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
        prove "grader: what killed judges have left is in nobody's way" taken_names
    else
        echo "prove: left out  what killed judges have left: it needs the right to mount"
    fi
else
    echo "prove: left out  attacks in the other settings: they are started as root"
fi
prove "a class with known scores, graded twice, once with kill -9" class
prove "handout, hand-in, reset, hidden checks" make -s handout-test
prove "a student's walks through labs 04 and 05, from the handout" walks
if tools/slurm_local.sh true >/dev/null 2>&1; then
    prove "the same class by a Slurm array" class_on_slurm
else
    echo "prove: left out  a Slurm array: slurm-wlm and munge are not installed, or do not start here"
fi
prove "exports: every format, every hostile text, against its schema" exports
prove "packs for Gradescope and Autolab grade by themselves" tools/pack_test.sh
if timeout 60 chromium --headless --no-sandbox --disable-gpu --dump-dom about:blank >/dev/null 2>&1; then
    prove "reports in headless Chromium, narrow and wide, light and dark" tools/html_test.py
else
    echo "prove: left out  reports in Chromium: chromium is not installed, or does not start here"
fi
prove "every known mistake is a mutant, or has a reason" tools/mutant_ids.py
prove "fuzz corpora under sanitizers" corpus
prove "mutants of the kit" tools/kit_mutants.py
# Once more: of a long output often only the end is kept.
cat $failures
echo "prove: $passed passed, $failed failed"
[ $failed = 0 ]
