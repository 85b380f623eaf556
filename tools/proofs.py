"""The proofs that tools/prove.py runs: of each its name, the files on which it depends, and its command.

A proof takes some three minutes at most on two cores; one that takes longer is cut in parts, so that a sample is one of
all that it proves. A lab in labs/ gets its proofs by being there. The few with `always`
come first: they are cheap, and any change can fail them.
"""
import collections
import glob
import os

Proof = collections.namedtuple("Proof", "name files command needs reason always", defaults=("", "", False))

# ---- what a proof can depend on -----------------------------------------------------------------------

BUILD = ("Makefile", "*/*.mk", "*/*/*.mk", "*/*/*/*.mk", "tools/labs_mk.py", "tools/setup.sh")
KIT = BUILD + ("kernels/", "common/")
SIMULATOR = BUILD + ("cudasim/",)
HOLES = ("labs/", "solutions/")
TRAIN = KIT + SIMULATOR + HOLES + ("train/",)
GRADE = KIT + SIMULATOR + ("solutions/", "grader/*.c", "grader/*.h", "train/", "grader/headers.py", "grader/recipe.py",
                             "grader/proof/grader_proof.py", "tools/class_folder.py", "tools/lab_files.py", "tools/labs_mk.py", "tools/link.sh")
GRADERS = GRADE + ("labs/", "grader/labs/")
UNIT = TRAIN + ("machines/",) + ("grader/*.c", "grader/*.h", "grader/labs/", "grader/fuzz/", "grader/schemas/", "grader/attacks/", "tools/unit.sh")
PAGES = ("docs/", "README.md", "CONTRIBUTING.md", "SUPPORT.md", "*/README.md")
ALL = UNIT + PAGES + ("tools/", "cudasim/", "grader/", "LICENSE", "VERSION", "CHANGELOG.md", ".ci/", ".clang-format", ".editorconfig", ".gitattributes",
                      ".gitignore")
GRADES_A_CLASS = ("VERSION", *(f"tools/{name}.py" for name in ("grade_all", "grade_one", "arguments", "hand_ins", "hand_in_reader", "from_hand_in", "class_folder",
                  "checks", "course", "release", "summary", "slurm", "class_table", "blame", "lab_files")))
CLASS = GRADERS + ("grader/attacks/", "grader/hidden/", "grader/proof/expecting.py", *GRADES_A_CLASS, "tools/slurm_shard.sh")
BOOK = TRAIN + PAGES + ("grader/", "machines/", "tools/overlap.py", "tools/book.py", "tools/lab_files.py", "tools/links.py", "tools/handout*.py", "tools/leaks.py", "tools/pareto.py", "tools/picture.py", "tools/table_ranks.py",
                        "tools/ring_picture.py")
HANDOUT = CLASS + PAGES + ("tools/", "grader/proof/handout_test.py", "grader/proof/leaving_test.py", "grader/proof/hand_in_reader_test.py", "LICENSE",
                           ".clang-format", ".editorconfig", ".gitattributes", ".gitignore")
TERMS = ("tools/term_values.py", "tools/arguments.py", "tools/course_repo.py", "tools/kit_files.py", "tools/handout*.py", "grader/proof/terms_test.py")
EXPORTS = GRADERS + ("grader/schemas/", "tools/export.py", "tools/exports/", "tools/report.py", "tools/report/", "tools/pack_grader.py", "tools/kit_files.py",
                     "tools/pack/", *GRADES_A_CLASS, "grader/proof/expecting.py")
SIMILAR = ("tools/similar.py", "tools/arguments.py", "tools/similarity.py", "tools/fingerprints.py", "tools/c_reader.py", "tools/normal_form.py", "tools/jplag.py", "tools/report/", "tools/report.py", "tools/grade_all.py",
           "tools/hand_in_reader.py", "tools/class_folder.py", "tools/handout*.py", "tools/leaks.py", "tools/lab_files.py", "tools/stub.sh", "solutions/", "labs/",
           "grader/labs/", "kernels/*.h", "common/*.h", "grader/proof/similar_test.py", "grader/proof/another_hand.py", "grader/proof/disguise.py", "grader/proof/disguise_more.py", ".clang-format",
           "grader/proof/grader_proof.py", "grader/proof/class_hand_ins.py")
GRADES = ("tools/grades.py", "tools/arguments.py", "tools/by_rules.py", "tools/ending.py", "tools/regrade_diff.py", "tools/feedback.py", "tools/forget.py", "tools/share_record.py", "tools/class_folder.py", "tools/tools.mk")


def of_lab(lab):
    """What grades one lab: of the others only the solutions, which are linked."""
    return GRADE + (f"labs/{lab}/", f"grader/labs/{lab}/")


# ---- commands -----------------------------------------------------------------------------------------

MAKE = f"make -s -j{len(os.sched_getaffinity(0))}"
CHECKED = "@(adamw|attention|cast|crossentropy|dropout|embedding|flash|gelu|gpu|layernorm|matmul|matrix|model|residual|scale|sumsq|unscale)/*"


def unit(settings):
    """The unit tests in another build of the kit."""
    return f"{MAKE} {settings} all\n tools/unit.sh $(make -s {settings} print-build)"


def checked(schedule, compiler):
    """Everything that runs on the simulated GPU, each access looked at."""
    settings = f"ACCESS=1 CC={compiler}"
    return f"{MAKE} {settings} all\n CUDASIM_SCHED={schedule} tools/unit.sh $(make -s {settings} print-build) --filter '{CHECKED}'"


def simulator(settings):
    return f"""
        for program in cudasim/tests/*.cu; do for schedule in forward reverse random:1; do
            make -s cu FILE=$program SCHED=$schedule {settings} || {{ echo "$program, $schedule: FAILED"; exit 1; }}
        done; done"""


def graded(words, settings="", before=""):
    return f"{MAKE} {settings} graders\n {before} grader/proof/grader_proof.py {words}"


OLD_CONTAINER = """
    make -s build/bin/contained; make -s grade00 FROM=solutions
    if build/bin/contained --old make -s grade00 FROM=solutions MIN_SANDBOX=2 >build/old.log 2>&1; then exit 1; fi
    grep 'level 1' build/old.log
    build/bin/contained --old make -s grade00 FROM=solutions"""

# Every second name that a judge's own process may take is there already, and another user's: as after many that were
# killed.
TAKEN_NAMES = graded("solutions --lab 00") + """
    unshare -m sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm &&
        seq -f /dev/shm/bxfi_%.0f $$ 2 $(($$ + 20000)) | xargs touch &&
        grader/proof/grader_proof.py solutions --lab 00 --setting user'"""

# After set-up and a build, as an instructor has it who looks a second time; the build alone takes a minute or two.
TRY = f"""{MAKE} graders-run GRADED_LABS=00_bytes
    begin=$(date +%s); make -s try-class || exit 1; took=$(($(date +%s) - begin))
    echo "make try-class: $took s"; test $took -lt 180"""

# Judges of both builds of the kit, without a hand-in: labs, each with a number of draws. One of 04, 06 or 07 takes two seconds.
DRAWN = (("00 to 06", "00_bytes:100 01_loop:60 02_kernels:20 03_accumulate:40 04_checkpoint:5 05_fp16:60 06_fit:5"),
         ("07 to 10", "07_optimizers:20 08_prefetch:60 09_fusion:40 10_lora:60"), ("11", "11_data_parallel:60"))


def draws(labs):
    """`window` of 03 begins anew where its windows cannot be filled, which one seed in some hundred shows."""
    window = "build/judge/03_accumulate --draws 1000 window || failed=1" if "03_accumulate" in labs else ""
    return f"""
        {MAKE} graders
        failed=0
        for of in {labs}; do
            lab=${{of%:*}} build=$(make -s print-build)
            if ls labs/$lab/*.cu >/dev/null 2>&1; then build=$(make -s ACCESS=1 print-build); fi
            echo "$lab:"; "$build/judge/$lab" --draws "${{of#*:}}" || failed=1
        done
        {window}
        exit $failed"""


# Of what labs show, with the stubs and with the solutions.
SHOWS = f"{MAKE} " + " ".join(f"build/bin/{name}" for name in ("train", "fp16", "checkpoint", "checkpoint-solved", "planted", "planted-solved"))

NVCC = "command -v nvcc || test -x /usr/local/cuda/bin/nvcc"
ROOT = ('test "$(id -u)" = 0', "it is started as root")
MOUNT = ("test \"$(id -u)\" = 0 && unshare -m mount -t tmpfs tmpfs /dev/shm", "it needs the right to mount")
SLURM = ("tools/slurm_local.sh true", "slurm-wlm and munge are not installed, or do not start here")
MPI = ("command -v mpirun && pkg-config --exists ompi-c", "Open MPI is not installed, or its headers are not: tools/setup.sh --mpi")
NCCL = (f"({NVCC}) && make -s BACKEND=cuda has-nccl", "there is no nvcc, or no NCCL beside it")
CHROMIUM = ("timeout 60 chromium --headless --no-sandbox --disable-gpu --dump-dom about:blank",
            "chromium is not installed, or does not start here")
BROWSER = (f"test -e build/python/axe_playwright_python && test -e build/python/websocket && {CHROMIUM[0]}",
           "chromium or build/python is not there, or does not start here")
CHROOT = ('test "$(id -u)" = 0 && grep -q "^VERSION_ID=.12" /etc/os-release && tools/debian_root.sh --here && unshare --mount --pid --fork true',
          "it needs root, mmdebstrap, and Debian 12 that knows where its packages are")
IMAGE = ("grader/proof/container_test.py --tool", "no container tool works here: docker, podman or buildah")
DOCKERFILE = ("PYTHONPATH=build/python python3 -c 'import dockerfile_parse'", "dockerfile-parse is not in build/python: tools/setup.sh --prove")
AARCH64 = ("tools/aarch64.sh --here", "no cross compiler, no qemu, or programs of that machine cannot be run here: tools/aarch64.sh --here says which")
YAMLLINT = ("command -v yamllint", "yamllint is not installed")
FORMER = ("git cat-file -e b74ce47^{commit}", "the history of this checkout does not have it")


# ---- the list -----------------------------------------------------------------------------------------

def parts(count, name, files, command, *needs):
    """One proof as several: `{part}` in its command is 1/n, 2/n and so on."""
    return [Proof(f"{name}, part {k} of {count}", files, command.replace("{part}", f"{k}/{count}"), *needs) for k in range(1, count + 1)]


def kit_proofs():
    return [
        Proof("make check", ALL, "make -s check"),
        Proof("sources and pages, read", ALL, "make -s check-read", always=True),
        Proof("handbook without a warning, every link followed", BOOK, "make -s docs", always=True),
        Proof("a lab in a folder of its own is in the book", BOOK + ("grader/proof/example/",),
              "make -s docs LABS=grader/proof/example\n grep lab_90_example.html build/docs/html/course.html\n make -s docs"),
        Proof("unit tests: clang -O0", UNIT, unit("CC=clang 'OPT=-O0 -g'")),
        Proof("unit tests: gcc, address and undefined behaviour sanitizers", UNIT, unit("SAN=1 'OPT=-O1 -g'")),
        Proof("unit tests: clang -O3, NaN in freed memory", UNIT, unit("CC=clang CHECKED=1")),
        Proof("unit tests: no BLAS", UNIT, unit("BLAS=none")),
        Proof("CUDA lint: what clang's own front end says of every .cu", KIT + SIMULATOR + HOLES, "make -s lint"),
        *(Proof(f"simulator: its own tests, {settings.replace('CC=', '')}", KIT + SIMULATOR, simulator(settings))
          for settings in ("CC=gcc", "CC=clang", "CC=gcc ACCESS=1", "CC=clang ACCESS=1", "CC=gcc DEBUG=1")),
        Proof("simulator: cu2cpp, what is unsupported, lint", KIT + SIMULATOR,
              "make -s build/cu2cpp\n cudasim/tests/cu2cpp_test.py build/cu2cpp\n cudasim/tests/unsupported_test.sh\n cudasim/tests/argument_test.sh\n cudasim/tests/lint_test.sh\n"
              " cudasim/tests/flags_test.sh gcc\n cudasim/tests/flags_test.sh clang\n"
              " cudasim/tests/cores_test.sh gcc\n cudasim/tests/cores_test.sh clang"),
        Proof("simulator: traffic, in each build that counts", TRAIN + ("tools/traffic.py", "tools/bench/"),
              f"{MAKE} TRAFFIC=1 build/traffic/bin/unit\n tools/unit.sh build/traffic --filter 'cost/*'\n cudasim/tests/traffic_test.py"),
        Proof("simulator: records, dry runs and makespans", TRAIN + ("machines/", "tools/overlap.py", "tools/picture.py", "tools/ring_picture.py", "tools/mpirun.sh"),
              f"{MAKE} build/bin/train build/bin/makespan\n cudasim/tests/record_test.py build/bin/train build/bin/makespan"),
        Proof("simulator: programs as others write them", KIT + SIMULATOR, "cudasim/tests/foreign.py"),
        Proof("simulator: ranks, gcc and clang, in all orders", KIT + SIMULATOR, "cudasim/tests/ranks_test.py"),
        Proof("NCCL: every collective, type, operation and size; a ring by send and receive", KIT + SIMULATOR + ("tools/nccl.mk", "tools/nccl/"),
              "make -s nccl-check\n make -s nccl-check CC=clang ACCESS=1 ARGS=--quick"),
        Proof("simulator: the table of a folder of programs", KIT + SIMULATOR + ("tools/foreign.py", "tools/foreign_result.py", "tools/meter.py"),
              "cudasim/tests/foreign_table.py"),
        Proof("nvcc: programs as others write them", SIMULATOR, "cudasim/tests/foreign.py --nvcc", NVCC, "there is no nvcc here"),
        *(proof for compiler in ("gcc", "clang") for proof in
          parts(2, f"simulator: broken programs, each caught, {compiler}", KIT + SIMULATOR,
                f"cudasim/tests/broken.py --cc {compiler} --part {{part}}")),
        Proof("check mode: ops and whole steps, reverse, clang", UNIT, checked("reverse", "clang")),
        Proof("check mode: ops and whole steps, random:1, gcc", UNIT, checked("random:1", "gcc")),
        Proof("check mode: what the kernels ask of the memory", TRAIN, "make -s profile-check"),
        Proof("bench programs run and count right", TRAIN + ("tools/bench/",), "make -s bench-check"),
        Proof("bench of the simulator runs and computes right", KIT + SIMULATOR + ("tools/bench/",), "make -s bench-simulator ARGS='--rounds 1'"),
        Proof("what the GPU check does, in the simulator", UNIT + ("tools/gpu_check.sh", "tools/gpu_pack.sh", "tools/bench/"),
              "tools/gpu_check.sh --dry-run"),
        *(Proof(f"nvcc: {arch or 'its default'}, without a warning", TRAIN + ("tools/bench/",),
                f"{MAKE} BACKEND=cuda CUDA_ARCH={arch} WERROR=1 all bench-programs", NVCC, "there is no nvcc here")
          for arch in ("", "sm_80", "sm_90")),
        Proof("nvcc: no kernel spills, and registers and accesses are as the handbook says", KIT + SIMULATOR + HOLES + ("tools/ptxas.py", "docs/kernels_table.md"),
              "tools/ptxas.py --check", NVCC, "there is no nvcc here"),
        Proof("the least time of a step is what a dry run and the declared machines say", TRAIN + ("machines/", "tools/step_bound.py", "docs/gpu.md"),
              f"{MAKE} build/bin/train build/bin/makespan\n tools/step_bound.py --check"),
        Proof("ways to share a model, and up to 1,024 ranks: the page has what dry runs find",
              TRAIN + ("machines/", "tools/table_ranks.py", "tools/bench/scaling.py", "tools/page_rows.py", "docs/when_which.md"),
              "make table RANKS=4 'ARGS=--page docs/when_which.md'\n make table RANKS=8 SIZE=gpt2 'ARGS=--page docs/when_which.md'\n "
              "tools/bench/scaling.py --train build/bin/train --makespan build/bin/makespan --most 1024 --page docs/when_which.md"),
        Proof("a planted spill and a changed count of registers are found", ("tools/ptxas.py", "tools/ptxas_test.py", "tools/class_folder.py"),
              "tools/ptxas_test.py"),
        Proof("fuzz corpora under sanitizers", UNIT + ("grader/schemas/",), "make -s SAN=1 'OPT=-O1 -g' replay"),
        *parts(6, "mutants of the kit", UNIT + PAGES + ("tools/", "grader/proof/kit/", "grader/proof/kit_mutants.py"),
               "grader/proof/kit_mutants.py --part {part}"),
    ]


def machine_proofs():
    files, image = UNIT + ("tools/aarch64.sh", "tools/debian_root.sh", "grader/proof/aarch64_test.sh", "grader/proof/pages_64k.c"), \
        ("Dockerfile", ".dockerignore", ".devcontainer/", "tools/setup.sh", "tools/debian_root.sh", "grader/proof/container_test.py")
    return [
        *(Proof(f"aarch64, built here and run by qemu: {what}", files, f"grader/proof/aarch64_test.sh {part}", *AARCH64)
          for part, what in (("units", "unit tests"), ("simulator", "the simulator, pages of 4 and 64 KiB"), ("demo", "a short training run"))),
        Proof("the Dockerfile and devcontainer.json say what they should", image, "grader/proof/container_test.py said", *DOCKERFILE),
        Proof("the image's steps in a new Debian, and a lab graded there", image + of_lab("00_bytes"), "grader/proof/container_test.py chroot",
              f"{CHROOT[0]} && {DOCKERFILE[0]}", f"{CHROOT[1]}; or {DOCKERFILE[1]}"),
        Proof("the image by a container tool, and a lab graded in it", image + of_lab("00_bytes"), "grader/proof/container_test.py image",
              f"{DOCKERFILE[0]} && {IMAGE[0]}", f"{IMAGE[1]}; or {DOCKERFILE[1]}"),
    ]


def rank_proofs():
    files = TRAIN + ("tools/nccl/", "grader/proof/mpi_test.py", "tools/mpirun.sh", "tools/mpi_env.sh", "tools/train.sbatch")
    mpi = f"{MAKE} build/bin/train build/bin/ring-check\n {MAKE} mpi\n"
    no_nccl = (f"set -e; set -- BACKEND=cuda NCCL= MPI=1 WERROR=1; train=$(make -s \"$@\" print-build)/bin/train\n {MAKE} \"$@\" $train\n"
               " try() { tools/mpirun.sh $1 $train --device cpu --max_steps 1 --n_layer 1 2>&1; }\n"
               " try 1\n said=$(try 2) && exit 1 || test $? = 2\n echo \"$said\" | grep -x 'several ranks need NCCL: build with NCCL=folder'")
    return [
        Proof("ranks of one process: calls, and windows of a training run", TRAIN,
              f"{MAKE} build/bin/ranks-check\n for ranks in 1 2 3 5; do build/bin/ranks-check $ranks || exit 1; done"),
        *(Proof(f"ranks over MPI: {what}", files, f"{mpi} grader/proof/mpi_test.py {tests}", *MPI)
          for what, tests in (("the bits of one process", "Bits"), ("every collective, and a ring", "Collectives"), ("a killed rank, and the same bits after it", "Ends"),
                              ("communicators right and wrong", "Links"), ("what is wrong is said once", "Said"),
                              ("each technique, and the same bits after a killed rank", "Techniques"))),
        Proof("ranks by Slurm: two tasks, and a job that goes on", files + ("tools/slurm_local.sh",),
              f"{mpi} tools/slurm_local.sh grader/proof/mpi_test.py Slurm", f"{MPI[0]} && {SLURM[0]}", f"{MPI[1]}; or {SLURM[1]}"),
        Proof("nvcc: ranks with NVIDIA's NCCL compile and link", TRAIN,
              f"{MAKE} BACKEND=cuda MPI=1 WERROR=1 nccl-programs", f"{MPI[0]} && {NCCL[0]}", f"{MPI[1]}; or {NCCL[1]}"),
        Proof("nvcc: without NCCL one rank trains, and two say so", TRAIN + ("tools/mpirun.sh", "tools/mpi_env.sh"), no_nccl,
              f"{MPI[0]} && ({NVCC})", f"{MPI[1]}; or there is no nvcc"),
    ]


def grader_proofs():
    labs = sorted(path.split("/")[1] for path in glob.glob("labs/*/tests.c"))
    attacks = "JOBS=4"  # they mostly wait for the limit that ends them
    proofs = [
        Proof("grader: stubs earn nothing, solutions everything", GRADERS, graded("stubs solutions --seeds 8")),
        Proof("grader: solutions compiled by clang", GRADERS, graded("solutions --compiler clang --seeds 2", "GRADE_CC=clang")),
        # Of lab 05 those whose windows train there: its ops run in the simulator anyway, and its scaler on no device. Of
        # lab 06 those about bytes: the workspace is another one.
        *(Proof(f"grader: mutants of {lab} lose on the simulated GPU", of_lab(lab), graded(f"mutants --lab {lab[:2]} --device gpu {only}"))
          for number, only in (("01", ""), ("03", ""), ("05", "--only mixed.c"), ("06", "--only plan.c")) for lab in labs if lab[:2] == number),
    ]
    for lab in labs:
        # In all checks, but for five labs whose other rows were not yet looked at.
        named = " --named" if lab[:2] in ("02", "06", "08", "09", "12") else ""
        proofs += parts(2, f"grader: mutants of {lab} lose, variants do not", of_lab(lab),
                        graded(f"mutants variants --lab {lab[:2]} --part {{part}}{named}"))
    proofs += [Proof(f"grader: a room that is closed around {threads} threads", of_lab("04_checkpoint"),
                     graded(f"solutions variants --lab 04 --threads {threads}")) for threads in (2, 8)]
    files = GRADERS + ("grader/attacks/",)
    proofs += parts(2, "grader: attacks earn nothing", files, graded("attacks --part {part}", "", attacks))
    proofs += parts(2, "grader: attacks, graded by a user without rights", files,
                    graded("attacks --setting user --part {part}", "", attacks), *ROOT)
    proofs += parts(2, "grader: attacks, graded where a container denies system calls", files,
                    graded("attacks --setting contained --part {part}", "", attacks), *ROOT)
    former = files + ("grader/proof/former_test.py",)
    return proofs + [
        Proof("grader: solutions and variants of the former release", former,
              f"{MAKE} graders\n grader/proof/former_test.py solutions variants", *FORMER),
        *parts(3, "grader: attacks of the former release", former,
               f"{MAKE} graders\n grader/proof/former_test.py attacks --part {{part}}", *FORMER),
        Proof("grader: no grade where Landlock is denied", of_lab("00_bytes"), OLD_CONTAINER, *ROOT),
        Proof("grader: leftovers of killed judges block no other grader", of_lab("00_bytes"), TAKEN_NAMES, *MOUNT),
        *(Proof(f"grader: no seed hides a mistake, or makes two of them one: labs {name}", GRADERS, draws(labs)) for name, labs in DRAWN),
        Proof("every clause and every known mistake has a mutant, or a reason", ("docs/", "grader/proof/", "grader/labs/", "kernels/", "common/", "train/"),
              "grader/proof/mutant_ids.py"),
    ]


def class_proofs():
    """Two hundred hand-ins in all, as `make class-test` has them."""
    files, of_class = CLASS + ("grader/proof/class_test.py", "grader/proof/class_hand_ins.py"), "make -s class-test-programs\n"
    return [
        *(Proof(f"a class of {lab} with known scores, graded twice, once with kill -9", files,
                f"{of_class} grader/proof/class_test.py --lab {lab} --hand-ins 100 --out build/class-{lab}")
          for lab in ("00_bytes", "01_loop")),
        Proof("two hundred hand-ins of lab 00, killed on the way: each is graded once, memory stays flat", files + ("grader/proof/class_load.py",),
              f"{of_class} grader/proof/class_load.py --hand-ins 200 --kills 6 --out build/class-200"),
        *(Proof(f"a class from week to week: {what}", CLASS + EXPORTS + GRADES + ("CHANGELOG.md", "grader/proof/course_folder.py", f"grader/proof/{test}.py"),
                f"grader/proof/{test}.py")
          for what, test in (("every layout, one rule; what no honest class has", "layouts_test"), ("records, tables, course.json, versions", "course_test"),
                             ("killed, a full disk, a clock that jumps", "ends_test"))),
        Proof("the same class by a Slurm array", files + ("tools/slurm_local.sh",),
              f"{of_class} tools/slurm_local.sh grader/proof/class_test.py --slurm 3 --lab 00_bytes --hand-ins 40 --out build/class-slurm",
              *SLURM),
        Proof("handout, hand-in, reset, hidden checks", HANDOUT, "make -s handout-test"),
        Proof("terms: two random terms", CLASS + TERMS, f"{MAKE} graders\n grader/proof/terms_test.py terms"),
        Proof("terms: the repositories of a course", HANDOUT + TERMS, "grader/proof/terms_test.py repositories"),
        Proof("the compiler of a hand-in sees headers and nothing else", HANDOUT + ("grader/proof/headers_test.py",), "make -s headers-test"),
        Proof("the Makefile: flavours, new names, a machine without Python", BUILD + ("grader/proof/make_test.py", "labs/", "tools/"),
              "grader/proof/make_test.py"),
        *(Proof(f"a student's first minutes: {name}", HANDOUT + ("grader/proof/minutes_test.py",), f"{of_class} grader/proof/minutes_test.py {words}")
          for name, words in (("no line that is not meant, true statuses, watch", ""), ("handbook and demo", "docs"), ("what labs need of others", "needs"))),
        Proof("a lab is a package: in a folder of its own, and copied into a clone", HANDOUT + ("grader/proof/package_test.py", "grader/proof/example/"),
              f"{MAKE} graders\n grader/proof/package_test.py"),
        *(Proof(f"an instructor's walk through a page: {page}", HANDOUT + BOOK + ("grader/proof/walk_test.py", "grader/proof/example/", f"docs/{page}.md"),
                f"{MAKE} all graders\n grader/proof/walk_test.py --page docs/{page}.md") for page in ("first_lab", "instructors")),
        *(Proof(f"a student's walk through lab {lab}, from the handout", HANDOUT + ("grader/proof/walk_test.py",),
                f"{of_class} grader/proof/walk_test.py --lab {lab}") for lab in ("01", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14")),
        *(Proof(f"a student's stumbles, from a handout without solutions: labs {labs}",
                HANDOUT + ("grader/proof/stumbles_test.py", "grader/proof/stumbles.txt"), f"{of_class} grader/proof/stumbles_test.py --labs {labs}")
          for labs in ("00,01,03", "02,04", "05,06", "07,08", "09,10")),
        Proof("hints: one at a time, counted, none of them the code", ("labs/", "tools/hint.py", "tools/lab_files.py", "tools/class_folder.py",
                                                                      "grader/proof/hints_test.py"),
              "grader/proof/hints_test.py"),
        Proof("bets: asked, measured, handed in, and shown to the instructor", TRAIN + EXPORTS + HANDOUT + ("grader/proof/bets_test.py",),
              f"{MAKE} all\n grader/proof/bets_test.py"),
        Proof("hand-ins that are alike: eleven planted copies among 200", SIMILAR, "grader/proof/similar_test.py Copies"),
        Proof("hand-ins that are alike: the report, and what bad input gets", SIMILAR, "grader/proof/similar_test.py Input Report Names JPlag"),
        Proof("hand-ins that are alike: copies in harder disguise, in labs by which nothing was tuned", SIMILAR + ("grader/proof/similar_more_test.py",),
              "grader/proof/similar_more_test.py"),
        Proof("outcomes, figures for slides", ("labs/", "docs/outcomes.md", "tools/outcomes.py", "tools/arguments.py", "tools/slides.py", "tools/labs.py", "tools/lab_files.py",
              "tools/class_folder.py", "LICENSE", "grader/proof/fit_test.py"), "tools/outcomes.py\n grader/proof/fit_test.py"),
        Proof("exports: every format, every hostile text, against its schema", EXPORTS + ("grader/proof/export_test.py",),
              "grader/proof/export_test.py"),
        Proof("grades: policies, rosters, columns, who moved, feedback, one student forgotten",
              EXPORTS + GRADES + tuple(f"grader/proof/{name}.py" for name in ("grades_folder", "grades_test", "policy_test", "forget_test", "export_test")),
              "grader/proof/policy_test.py\n grader/proof/grades_test.py\n grader/proof/forget_test.py"),
        Proof("another language: the catalogue, texts and pages in it, wrong files",
              EXPORTS + ("labs/", "cudasim/", "common/", "tools/sentences.py", "tools/say.py", "tools/feedback.py", "tools/handout*.py", "languages/", "grader/proof/language_test.py"),
              "grader/proof/language_test.py"),
        Proof("a class to try: fourteen graded in less than three minutes", CLASS + EXPORTS + GRADES + ("tools/try_class.py", "grader/proof/class_hand_ins.py"), TRY),
        Proof("what Classroom 50 runs writes its result.json", EXPORTS + HANDOUT + ("grader/proof/classroom50_test.py",), "grader/proof/classroom50_test.py"),
        Proof("packs for Gradescope and Autolab grade by themselves", EXPORTS + HANDOUT + ("grader/proof/pack_test.sh",),
              "grader/proof/pack_test.sh"),
        Proof("what labs show: before their holes are filled, progress, a busy machine", TRAIN + ("tools/pareto.py", "tools/meter.py",
              "grader/proof/shows_test.py"), f"{SHOWS}\n grader/proof/shows_test.py"),
        Proof("every figure in headless Chromium: labels whole and apart, alt text", TRAIN + PAGES + ("tools/pareto.py", "grader/proof/figures_test.py",
              "grader/proof/figures.js", "grader/proof/html_test.py"), f"{SHOWS}\n grader/proof/figures_test.py", *CHROMIUM),
        Proof("reports in headless Chromium, narrow and wide, light and dark", EXPORTS + ("grader/proof/html_test.py",),
              "grader/proof/html_test.py", *CHROMIUM),
        *(Proof(f"the book in headless Chromium: {what}", BOOK, f"make -s docs\n grader/proof/book_test.py {tests}", *BROWSER)
          for what, tests in (("narrow and wide, light and dark, search, paper", "Look Solutions"),
                              ("axe finds nothing serious on any page, light and dark", "Access"))),
        Proof("the book of a handout without solutions: pages, links, nothing of Teaching", HANDOUT + BOOK,
              """make -s handout LAB=03 SOLUTIONS=none OUT=build/book-handout
                 make -C build/book-handout docs && grader/proof/book_test.py --in build/book-handout Look""", *BROWSER),
        Proof("workflows, and forms for issues", (".github/", "Makefile", "tools/pack/github.yml", "tools/tools.mk", "docs/docs.mk", "tools/setup.sh", "grader/proof/workflow_test.py"),
              "yamllint --strict -d '{extends: default, rules: {document-start: disable, truthy: {check-keys: false}}}' .github tools/pack/github.yml\n grader/proof/workflow_test.py", *YAMLLINT),
    ]


def all_proofs():
    return kit_proofs() + machine_proofs() + rank_proofs() + grader_proofs() + class_proofs()
