#!/bin/sh
# What cudasim does not simulate must stop the compiler in plain words, and with nothing else:
# cudasim/tests/unsupported_test.sh [CU2CPP]. Each case is a text that the message has, then a program.
cd "$(dirname "$0")/../.." || exit
cu2cpp=${1:-build/cu2cpp}
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
failed=0 count=0

# As the Makefile does it; each step only if the one before went well.
compile() { # compiler
    $1 -E -x c++ -std=c++17 -D__CUDACC__ -Icudasim/include -I. -include cuda_runtime.h \
        "$dir/x.cu" -o "$dir/x.i" &&
        $cu2cpp "$dir/x.i" "$dir/x.ii" &&
        $1 -x c++-cpp-output -std=c++17 -c "$dir/x.ii" -o "$dir/x.o"
}

refused() { # message, program
    printf '%s\n' "$2" >"$dir/x.cu"
    for cxx in g++ clang++; do
        command -v $cxx >/dev/null || continue
        count=$((count + 1))
        if said=$(compile $cxx 2>&1); then
            said="nothing: it compiles"
        fi
        errors=$(echo "$said" | grep 'error: ')
        if ! echo "$errors" | grep -qF "unsupported: $1" ||
            echo "$errors" | grep -vq 'unsupported: '; then
            echo "unsupported: FAILED with $cxx: $2"
            echo "  wanted: unsupported: $1"
            echo "  said:   $errors"
            failed=1
        fi
    done
}

refused "the driver API" '#include <cuda.h>
void f() { CUdeviceptr p; cuMemAlloc(&p, 4); }'
refused "CUDA graphs" 'cudaGraph_t graph; cudaGraphExec_t exec;'
refused "CUDA graphs" 'void f(cudaStream_t s) { cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); }'
refused "textures" 'void f() { cudaTextureObject_t t; }'
refused "textures" '__global__ void k(float *x) { x[0] = tex1Dfetch<float>(3, 1); }'
refused "launches with attributes" '__global__ void k() {} void f(void *c) { cudaLaunchKernelExC(c, (void *)k, NULL); }'
refused "barriers over several devices" 'void f(void *l) { cudaLaunchCooperativeKernelMultiDevice(l, 1, 0); }'
refused "inline PTX" '__global__ void k(int *x) { asm("mov.u32 %0, %laneid;" : "=r"(x[0])); }'
refused "inline PTX" '__global__ void k(int *x) { if (x[0]) asm volatile("bar.sync 0;"); }'
refused "tensor cores" '#include <mma.h>
using namespace nvcuda; __global__ void k() { wmma::fragment<wmma::accumulator, 16, 16, 16, float> c; }'
refused "cuRAND" '#include <curand_kernel.h>
__global__ void k() { curandState s; curand_init(1, 2, 3, &s); }'
refused "asynchronous copies" '#include <cuda_pipeline.h>
__global__ void k() { __pipeline_commit(); }'
refused "cuda::barrier" '#include <cuda/barrier>
__global__ void k() { __shared__ cuda::barrier<cuda::thread_scope_block> b; }'
refused "cuda::pipeline" '#include <cuda/pipeline>
void f() { cuda::pipeline<cuda::thread_scope_thread> p; }'
refused "products of doubles" '#include <cublas_v2.h>
void f(cublasHandle_t h) { double one = 1, *x = NULL; cublasDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x, 1, x, 1, &one, x, 1); }'
refused "vector operations" '#include <cublas_v2.h>
void f(cublasHandle_t h) { float one = 1, *x = NULL; cublasSaxpy(h, 1, &one, x, 1, x, 1); }'
refused "this old form" '__global__ void k(float *x) { x[0] += __shfl_down(x[0], 16); }'
refused "this old form" '__global__ void k(int *x) { x[0] = __ballot(x[1]); }'

echo "unsupported: $count cases$([ $failed = 0 ] && echo ", each refused in one sentence")"
exit $failed
