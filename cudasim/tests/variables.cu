// Variables of the device in every form that a kernel may name, and those of the host beside them.
// In check mode nothing is reported.
#include <cuda_runtime.h>
#include <stdio.h>

enum { N = 4 };

struct Pair {
    int first, second;
};

__device__ int plain = 1;
static __device__ int several = 2, *pointer, table[N] = {1, 2, 3, 4};
__device__ Pair pair = {5, 6};
__device__ struct { int value; } unnamed = {7};
__constant__ int fixed[2] = {8, 9};
__device__ int declared = 10;
__device__ int (*function)(int);
alignas(16) __device__ int aligned = 11;
const int number = 12;
constexpr int known = 14;
__managed__ int shared_by_both = 15;
static inline __device__ int joined = 16;
template <class T> __device__ T of_a_type = 17;

namespace deep {
namespace deeper {
__device__ int nested = 18;
}
static int of_the_host = 19;
} // namespace deep

namespace {
__device__ int unseen = 20;
}

/* The host's. */
int counter, *to_device, (*called)(int), list[N];
static volatile long long large = 3;
unsigned int bits = 0x5au, more_bits{7};
static cudaStream_t streams[2];
template <class T> T host_of_a_type = 1;
struct Named {
    int value;
} named;

static __device__ int twice(int x) {
    return 2 * x;
}

static __global__ void look(int *out) {
    static int calls; /* of the device, for it stands in a kernel */
    static const int offsets[2] = {21, 22};
    calls++;
    function = twice;
    pointer = &several;
    plain++;
    out[0] = plain + several + *pointer + table[threadIdx.x + 3] + pair.second + unnamed.value;
    out[1] = fixed[1] + declared + function(3) + aligned + number + known;
    out[2] = shared_by_both + joined + of_a_type<int> + deep::deeper::nested + unseen;
    out[3] = calls + offsets[threadIdx.x + 1];
}

int main() {
    int host[N], *address, one = 1;
    size_t bytes;
    cudaMalloc(&to_device, sizeof host);
    cudaStreamCreate(&streams[0]);
    look<<<1, 1, 0, streams[0]>>>(to_device);
    cudaStreamSynchronize(streams[0]);
    cudaMemcpy(list, to_device, sizeof list, cudaMemcpyDeviceToHost);
    cudaMemcpyToSymbol(of_a_type<int>, &one, sizeof one);
    cudaMemcpyFromSymbol(&counter, of_a_type<int>, sizeof counter);
    cudaMemcpyToSymbolAsync(deep::deeper::nested, &one, sizeof one, 0, cudaMemcpyHostToDevice,
                            streams[0]);
    cudaStreamSynchronize(streams[0]);
    cudaGetSymbolAddress((void **)&address, table);
    cudaGetSymbolSize(&bytes, table);
    cudaMemcpy(host, address, bytes, cudaMemcpyDeviceToHost);
    cudaStreamDestroy(streams[0]);
    cudaFree(to_device);
    deep::of_the_host +=
        (int)large + (int)bits + (int)more_bits + named.value + host_of_a_type<int>;
    bool good = list[0] == 23 && list[1] == 62 && list[2] == 86 && list[3] == 23 && counter == 1 &&
                host[3] == 4 && called == NULL && deep::of_the_host == 120;
    printf("%s\n", good ? "good" : "WRONG");
    return good ? 0 : 1;
}
