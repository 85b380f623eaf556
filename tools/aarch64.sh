#!/bin/sh
# Runs a command where make builds for aarch64, and where the programs that it makes run: with Debian's cross compiler,
# its libraries of that machine in build/aarch64-root, and qemu. The machine itself is left as it is: which program runs
# them is said to a namespace of this command alone. docs/machines.md
#
#   tools/aarch64.sh make all
#   tools/aarch64.sh tools/unit.sh "$(tools/aarch64.sh make -s print-build)" --filter 'matmul/*'
#   tools/aarch64.sh --here       whether this can be done here; the reason if it cannot
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)/build/aarch64-root
loader=$root/lib/ld-linux-aarch64.so.1
kinds=/proc/sys/fs/binfmt_misc
said=/usr/lib/binfmt.d/qemu-aarch64.conf
libraries=usr/lib/aarch64-linux-gnu headers=usr/include/aarch64-linux-gnu

stop() {
    echo "aarch64: $*" >&2
    exit 1
}
# In a namespace of its own, unless the machine runs such programs anyway.
enter() {
    if [ -e $kinds/qemu-aarch64 ]; then
        "$@"
    else
        # shellcheck disable=SC2016 # the inner shell's
        unshare --user --map-root-user --mount sh -ec 'mount -t binfmt_misc none "$1"; cat "$2" >"$1/register"; shift 2; exec "$@"' \
            sh $kinds $said "$@"
    fi
}
make_root() {
    sh "$(dirname "$0")/debian_root.sh" arm64 extract "$root" \
        libc6-dev,libstdc++-12-dev,libgomp1,libjansson-dev,libdw-dev,libseccomp-dev,libcriterion-dev,libopenblas-openmp-dev
    # What the packages' scripts would have chosen.
    for file in libopenblas.so libopenblas.so.0; do ln -s openblas-openmp/$file "$root/$libraries/$file"; done
    for file in cblas.h openblas_config.h; do ln -s openblas-openmp/$file "$root/$headers/$file"; done
}

[ "$(uname -m)" != aarch64 ] || stop "this machine is one: make test"
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64-static; do
    command -v $tool >/dev/null || stop "$tool is not installed: tools/setup.sh --aarch64"
done
[ -e "$loader" ] || make_root || stop "Debian's packages of that machine cannot be had"
enter "$loader" --version >/dev/null 2>&1 || stop "programs of that machine do not run here (a kernel before 6.7, or one that shuts namespaces)"
[ "${1:-}" != --here ] || exit 0

# One processor for all: -mcpu=native is what a machine's own build has.
export CC=aarch64-linux-gnu-gcc ARCH="${ARCH:--mcpu=neoverse-n1}" BLAS="${BLAS:-openblas}"
export CPPFLAGS="--sysroot=$root" LDFLAGS="--sysroot=$root" QEMU_LD_PREFIX="$root"
enter "$@"
