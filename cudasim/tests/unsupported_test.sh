#!/bin/sh
# What cudasim does not simulate must stop the compiler in plain words, and with nothing else:
# cudasim/tests/unsupported_test.sh [CU2CPP]. Each case is a text that the message has, then a program.
cd "$(dirname "$0")/../.." || exit
cu2cpp=${1:-build/cu2cpp}
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
failed=0 count=0

make -s build/refused/made || exit

# As the Makefile does it; each step only if the one before went well.
compile() { # compiler
    $1 -E -x c++ -std=c++17 -D__CUDACC__ -Icudasim/include -I. -Ibuild/refused -include cuda_runtime.h \
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
refused "the driver API" '#include <cuda.h>
void f() { CUmodule module; cuModuleLoad(&module, "blur.ptx"); }'
refused "copies by tensor maps" '#include <cuda.h>
void f(const CUtensorMap *map);'
refused "copies by tensor maps" '#include <cuda.h>
void f(void *map) { cuTensorMapEncodeTiled(map, 1); }'
refused "numbers of 8 bits" '#include <cuda_fp8.h>
__global__ void k(unsigned char *y, const float *x) { *y = __nv_cvt_float_to_fp8(*x, __NV_SATFINITE, __NV_E4M3); }'
refused "numbers of 4 and 6 bits" '#include <cuda_fp4.h>'
refused "cuBLAS's old interface; use cublas_v2.h" '#include <cublas.h>'
refused "memory that belongs to a graph" 'void f(cudaGraph_t g, cudaGraphNode_t *n) { cudaGraphAddMemFreeNode(n, g, NULL, 0, NULL); }'
refused "captures into a graph" 'void f(cudaStream_t s, cudaGraph_t g) { cudaStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, cudaStreamCaptureModeGlobal); }'
refused "textures" 'void f() { cudaTextureObject_t t; }'
refused "textures" '__global__ void k(float *x) { x[0] = tex1Dfetch<float>(3, 1); }'
refused "barriers over several devices" 'void f(void *l) { cudaLaunchCooperativeKernelMultiDevice(l, 1, 0); }'
refused "cuBLAS's cublasDotEx" '#include <cublas_v2.h>
void f(cublasHandle_t h, float *x) { cublasDotEx(h, 1, x, CUDA_R_32F, 1, x, CUDA_R_32F, 1, x, CUDA_R_32F, CUDA_R_32F); }'
refused "cuBLAS's cublasZtrsm_64" '#include <cublas_v2.h>
void f(cublasHandle_t h) { cublasZtrsm_64(h); }'
refused "dynamic parallelism" '__global__ void k() {} __global__ void l() { k<<<1, 1>>>(); }'
refused "dynamic parallelism" 'template <class T> __device__ __forceinline__ T *f() { T *p; cudaMalloc(&p, 4); return p; }'
refused "dynamic parallelism" '__global__ void k() { if (threadIdx.x == 0) { cudaDeviceSynchronize(); } }'
refused "inline PTX: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 is" '__global__ void k(int *x) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0}, {%0}, {%0}, {%0};" : "+r"(x[0])); }'
refused "inline PTX" '#include <cudasim_sealed.h>
__global__ void k(int *x) { asm("mov.u32 %0, %laneid;" : "=r"(x[0])); }'
refused "inline PTX" '__global__ void k(int *x) { if (x[0]) asm volatile("bar.sync 0;"); }'
refused "tensor cores" '#include <cudasim_sealed.h>
#include <mma.h>'
refused "this shape of wmma" '#include <mma.h>
using namespace nvcuda; __global__ void k() { wmma::fragment<wmma::accumulator, 16, 16, 8, float> c; }'
refused "this type of wmma" '#include <mma.h>
using namespace nvcuda; __global__ void k() { wmma::fragment<wmma::accumulator, 16, 16, 16, int> c; }'
refused "wmma with tf32" '#include <mma.h>
using namespace nvcuda; __global__ void k() { wmma::precision::tf32 x; }'
refused "cuRAND in a graded file" '#include <cudasim_sealed.h>
#include <curand_kernel.h>'
refused "this generator of cuRAND" '#include <curand_kernel.h>
__global__ void k(curandStateMRG32k3a_t *s) {}'
refused "this generator of cuRAND" '#include <curand_mtgp32_host.h>'
refused "cuRAND's Poisson numbers" '#include <curand_kernel.h>
__global__ void k(unsigned *x) { curandState s; curand_init(1, 0, 0, &s); x[0] = curand_poisson(&s, 4.0); }'
refused "cuRAND's Sobol generators; there are XORWOW and Philox" '#include <curand.h>
void f(curandGenerator_t g) { curandSetQuasiRandomGeneratorDimensions(g, 2); }'
refused "cuRAND's Sobol generators" '#include <curand.h>
void f() { curandDirectionVectors32_t *v; curandGetDirectionVectors32(&v, 101); }'
refused "cuRAND's tables of a distribution" '#include <curand.h>
void f() { curandDiscreteDistribution_t d; curandCreatePoissonDistribution(4.0, &d); }'
refused "this form of cuRAND's" '#include <curand.h>
void f(curandGenerator_t g, unsigned *x) { curandGenerateBinomial(g, x, 4, 10, 0.5); }'
refused "asynchronous copies" '#include <cudasim_sealed.h>
#include <cuda_pipeline.h>'
refused "copies that arrive at a barrier" '#include <cuda_pipeline.h>
__global__ void k(long *b) { __pipeline_arrive_on(b); }'
refused "cuda::barrier" '#include <cuda/barrier>
__global__ void k() { __shared__ cuda::barrier<cuda::thread_scope_block> b; }'
refused "cuda::pipeline" '#include <cuda/pipeline>
void f() { cuda::pipeline<cuda::thread_scope_thread> p; }'
refused "libcu++" '#include <cuda/atomic>
__global__ void k(int *x) { cuda::atomic_ref<int, cuda::thread_scope_device> r(*x); }'
refused "libcu++" '#include <cuda/std/type_traits>
#include <cuda/std/array>'
refused "thrust" '#include <thrust/device_vector.h>
#include <thrust/sort.h>
int main() { thrust::device_vector<int> v(4, 1); thrust::sort(v.begin(), v.end()); }'
refused "cub" '#include <cub/cub.cuh>'
refused "barriers with arrive" '#include <cuda_awbarrier_primitives.h>'
refused "this library" '#include <cusparse.h>
int main() { cusparseHandle_t h; cusparseCreate(&h); }'
refused "clusters of blocks" '#include <cooperative_groups.h>
__global__ void k(int *x) { auto c = cooperative_groups::this_cluster(); c.sync(); x[0] = c.block_rank(); }'
refused "operations of a program's own" '#include <nccl.h>
void f(ncclComm_t c, float *x) { ncclRedOp_t op; ncclRedOpCreatePreMulSum(&op, x, ncclFloat, 0, c); }'
refused "registered buffers" '#include <nccl.h>
void f(ncclComm_t c, float *x) { void *h; ncclCommRegister(c, x, 4, &h); }'
refused "numbers of 8 bits" '#include <cuda_fp8.h>
__global__ void k(__nv_fp8_e4m3 *x) {}'
refused "more than 32764 bytes" 'struct Table { int x[8191]; };
__global__ void k(Table t, int *x) { x[0] = t.x[0]; } void f(Table t, int *x) { k<<<1, 1>>>(t, x); }'
refused "references among" '__global__ void k(int &n) {} void f(int n) { k<<<1, 1>>>(n); }'
refused "memory and events of other processes" 'cudaIpcMemHandle_t handle;'
refused "textures" 'texture<float, 1, cudaReadModeElementType> table;'
refused "this old form" '__global__ void k(float *x) { x[0] += __shfl_down(x[0], 16); }'
refused "this old form" '__global__ void k(int *x) { x[0] = __ballot(x[1]); }'
refused "clusters of blocks" '#include <cooperative_groups.h>
__device__ unsigned f(cooperative_groups::cluster_group &c) { return c.block_rank(); }'
refused "clusters of blocks" '__global__ void __cluster_dims__(2, 1, 1) k() {} void f() { k<<<2, 1>>>(); }'
refused "sums of a group into" '#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int *x) { cg::reduce_update_async(cg::tiled_partition<32>(cg::this_thread_block()), *x, 1, cg::plus<int>()); }'
refused "barriers in shared memory" '__global__ void k() { __shared__ unsigned long long b; __mbarrier_init(&b, 32); }'
refused "breakpoints in code" '__global__ void k() { __brkpt(); }'
refused "questions about managed memory" 'void f(int *x) { int v; cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeReadMostly, x, 4); }'
refused "objects that belong to a graph" 'void f(void *x, cudaHostFn_t g) { cudaUserObject_t o; cudaUserObjectCreate(&o, x, g, 1, 0); }'
refused "memory and semaphores of Vulkan" 'void f(cudaExternalMemory_t m) { cudaDestroyExternalMemory(m); }'
refused "code that is loaded" 'void f(const char *text) { cudaLibrary_t l; cudaLibraryLoadFromFile(&l, text, 0, 0, 0, 0, 0, 0); }'
refused "textures" 'void f() { auto d = cudaCreateChannelDesc<float>(); }'
refused "this question to a node" 'void f(cudaGraphExec_t g, cudaGraphNode_t n) { cudaGraphNodeSetEnabled(g, n, 0); }'

echo "unsupported: $count cases$([ $failed = 0 ] && echo ", each refused in one sentence")"
exit $failed
