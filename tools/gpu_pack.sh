#!/bin/sh
# Puts programs and the libraries they need into one folder, which a machine with a GPU and nothing
# else can use: only the C library, the driver and cuBLAS have to be there.
#
#   tools/gpu_pack.sh build/cuda-sm_90-pack-none build/gpu-pack sm_90      (make gpu-pack calls it)
set -eu
build=$1 pack=$2 arch=$3
most_mib=60

rm -rf "$pack"
mkdir -p "$pack/common/data" "$pack/tools/bench" "$pack/tools"
cp "$build"/bin/unit "$build"/bin/train "$build"/bin/bench "$build"/bin/bench-ops "$pack/"
cp common/data/kit.txt "$pack/common/data/"
cp tools/bench/*.py "$pack/tools/bench/"
cp tools/gpu_check.sh tools/table.py tools/meter.py "$pack/tools/"
tools/gpu_check.sh --suites >"$pack/SUITES"
cudasim/tests/foreign.py --pack "$pack/promises" --arch "$arch"
{ git rev-parse --short HEAD && { git diff --quiet HEAD || echo "with changes"; }; } \
    2>/dev/null | tr '\n' ' ' >"$pack/COMMIT" || true

# Not the C library's own parts (they must fit the machine), and not cuBLAS: it is ten times the
# size of all the rest, and comes with CUDA and with PyTorch.
for program in "$pack"/unit "$pack"/train "$pack"/bench "$pack"/bench-ops; do
    strip --strip-debug "$program"
    ldd "$program" | sed -n 's/^[[:space:]]*\([^ ]*\) => \(\/[^ ]*\).*/\1 \2/p'
done | sort -u | while read -r name path; do
    case $name in
    libc.so* | libm.so* | libmvec.so* | libpthread.so* | libdl.so* | librt.so* | libresolv.so* | \
        ld-linux* | libcublas* | libcuda.so*) ;;
    *) cp "$path" "$pack/$name" ;;
    esac
done

size=$(du -sm "$pack" | cut -f1)
echo "$pack: $size MiB; on the machine with the GPU: tools/gpu_check.sh in that folder"
[ "$size" -le $most_mib ] || { echo "gpu-pack: more than $most_mib MiB" >&2; exit 1; }
