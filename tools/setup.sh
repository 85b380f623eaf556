#!/bin/sh
# Installs what the kit needs and this machine lacks, from Debian's or Ubuntu's packages: says what
# and why, asks for root (or sudo) for just that, and does nothing when all is there. --prove takes
# three packages of PyPI as well, into build/python.
#
#   tools/setup.sh          install what is missing
#   tools/setup.sh --list   only say what is needed, and what of it is missing
#   tools/setup.sh --prove  also what only make prove has a use for
#   tools/setup.sh --aarch64  also what builds the kit for that machine on another one: docs/machines.md
#   tools/setup.sh --mpi    also what several ranks need, on one machine or many: make mpi
#   tools/setup.sh --grade  nothing but what it takes to build a judge (with BLAS=none) and to grade
set -eu
list='' part='' mpi='' aarch64=''
for option in "$@"; do
    case $option in
    --list) list=1 ;;
    --prove | --grade) part=$option ;;
    --mpi) mpi=1 ;;
    --aarch64) aarch64=1 ;;
    *) echo "setup: there is no $option, but --list, --aarch64, --mpi, --prove, --grade" >&2; exit 2 ;;
    esac
done

# package | how to see that it is there | why
needs_to_grade() {
    cat <<'LIST'
gcc|command -v gcc|compiles the kit
g++|command -v g++|compiles CUDA for the simulator
binutils|command -v objcopy|check mode
libdw-dev|have_header elfutils/libdwfl.h|the simulator names lines of source
make|command -v make|runs the Makefile
libc6-dev|have_header stdio.h|the C library's headers
libjansson-dev|have_header jansson.h|JSON: configurations, logs, records
libcriterion-dev|have_header criterion/criterion.h|unit tests, and the frame of the judge
libseccomp-dev|have_header seccomp.h|the grader's sandbox
python3|command -v python3|make bench, make grade-all
LIST
}
needs() {
    needs_to_grade
    if [ "$part" = --grade ]; then
        return
    fi
    cat <<'LIST'
gdb|command -v gdb|make debugNN
gnuplot-nox|command -v gnuplot|pictures of loss and memory
doxygen|command -v doxygen|the handbook
doxygen-awesome-css|test -e /usr/share/doxygen-awesome-css/doxygen-awesome.css|the handbook's theme
graphviz|command -v dot|the handbook's figures
unifdef|command -v unifdef|cuts labs/ from solutions/
clang|command -v clang|make lint; the second compiler of make check and make prove
libomp-dev|have_clang_openmp|OpenMP for clang
clang-format|command -v clang-format|make format, make check
gettext|command -v msgfmt|make languages, and the test of the catalogue of sentences
git|command -v git|make stubs looks whether your work would be overwritten
python3-jinja2|have_python jinja2|make report
python3-pygments|have_python pygments|make similar
python3-jsonschema|have_python jsonschema|labs of your own (LABS=), policy.json, and the tests of what grades are exported to
tzdata|test -e /usr/share/zoneinfo/Europe/Berlin|time zones of deadlines
LIST
    case $(uname -m) in
    x86_64) echo 'libdnnl-dev|have_header oneapi/dnnl/dnnl.h|matrix products on the CPU' ;;
    *) echo 'libopenblas-openmp-dev|have_header cblas.h|matrix products on the CPU' ;;
    esac
    if [ -n "$mpi" ] || [ "$part" = --prove ]; then
        cat <<'LIST'
libopenmpi-dev|have_mpi|make mpi
openmpi-bin|command -v mpirun|make mpirun
pkg-config|command -v pkg-config|where MPI is
LIST
    fi
    if [ -n "$aarch64" ]; then
        cat <<'LIST'
gcc-aarch64-linux-gnu|command -v aarch64-linux-gnu-gcc|builds the kit for aarch64
g++-aarch64-linux-gnu|command -v aarch64-linux-gnu-g++|the same, for the simulator
qemu-user-static|command -v qemu-aarch64-static|runs what was built
LIST
    fi
    if [ -n "$aarch64" ] || [ "$part" = --prove ]; then
        echo 'mmdebstrap|command -v mmdebstrap|a Debian in a folder: tools/debian_root.sh'
    fi
    if [ "$part" = --prove ]; then
        cat <<'LIST'
codespell|command -v codespell|make check looks for misspelt words
chromium|command -v chromium|opens the handbook, the reports of make report, and the figures
fonts-dejavu-core|test -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf|the letters of the figures, when they are looked at
yamllint|command -v yamllint|reads the workflow that publishes the handbook
python3-pip|python3 -m pip --version|three packages that Debian does not have
gcovr|command -v gcovr|make coverage
slurm-wlm|have_daemon slurmctld|make grade-all SLURM=1, on one machine
munge|have_daemon munged|the same
LIST
    fi
    # Its name has clang's version in it, so it is asked for once clang is there.
    if command -v clang >/dev/null; then
        echo "libclang-rt-$(clang_major)-dev|have_clang_sanitizers|clang's sanitizers and fuzzer"
    fi
}

# package==version | its folder | why
needs_of_pypi() {
    cat <<'LIST'
axe-playwright-python==0.1.8|axe_playwright_python|axe-core: can everybody read the handbook?
websocket-client==1.8.0|websocket|talks to Chromium
dockerfile-parse==2.0.1|dockerfile_parse|reads the Dockerfile
LIST
}
pypi=$(dirname "$0")/../build/python
install_from_pypi() {
    needs_of_pypi | while IFS='|' read -r package folder why; do
        state=there
        test -e "$pypi/$folder" || state=MISSING
        if [ -n "$list" ] || [ $state = MISSING ]; then
            printf '  %-22s %-8s %s\n' "${package%==*}" "$state" "$why, in build/python"
        fi
        if [ -z "$list" ] && [ $state = MISSING ]; then
            python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
                --target "$pypi" "$package" || exit 1
        fi
    done
}

clang_major() { clang -dumpversion | cut -d. -f1; }
# Debian's Python counts too, where another one comes first.
have_python() { python3 -c "import $1" || /usr/bin/python3 -c "import $1"; }
have_daemon() { PATH=$PATH:/usr/sbin command -v "$1"; }
have_mpi() { pkg-config --exists ompi-c || command -v mpicc; }
have_header() { echo "#include <$1>" | gcc -E - >/dev/null 2>&1; }
have_clang_openmp() { echo '#include <omp.h>' | clang -fopenmp -E - >/dev/null 2>&1; }
have_clang_sanitizers() { test -e "$(clang -print-file-name=libclang_rt.fuzzer-x86_64.a)" ||
    ls "$(clang -print-runtime-dir 2>/dev/null)"/libclang_rt.fuzzer* >/dev/null 2>&1; }

missing=
while IFS='|' read -r package present why; do
    if $present >/dev/null 2>&1; then
        state=there
    else
        state=MISSING
        missing="$missing $package"
    fi
    if [ -n "$list" ] || [ $state = MISSING ]; then
        printf '  %-22s %-8s %s\n' "$package" "$state" "$why"
    fi
done <<LIST
$(needs)
LIST

if [ -z "$missing" ] || [ -n "$list" ]; then
    if [ "$part" = --prove ]; then
        install_from_pypi
    fi
    exit 0
fi
if [ "$missing" = "${INSTALLED_JUST_NOW:-}" ]; then
    echo "setup: still missing, although the packages are installed:$missing" >&2
    exit 1
fi
if ! command -v apt-get >/dev/null; then
    echo "setup: this script knows Debian and Ubuntu; on other systems install the above by hand" >&2
    exit 1
fi
root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: needs root for: apt-get install$missing" >&2
        exit 1
    fi
    root=sudo
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$root apt-get update -qq
# shellcheck disable=SC2086 # the list is meant to be split
$root apt-get install -y -qq --no-install-recommends $missing >/dev/null
INSTALLED_JUST_NOW=$missing exec "$0" "$@"
