/* Launches of templates and of overloaded kernels by their arguments alone, << <, large parameters
   and such with a destructor, a kernel beside a host function of the same name, functions by
   pointer. */
#include <cuda_runtime.h>

#include "check.cuh"

template <class T> __global__ void fill(T *x, T value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = value;
    }
}

template <int Step, class T> __global__ void add(T *x, T value) {
    x[threadIdx.x] += Step * value;
}

__global__ void mark(int *x) {
    x[threadIdx.x] = 1;
}

__global__ void mark(float *x, float value) {
    x[threadIdx.x] = value;
}

static void scale(float *x, int n) {
    for (int i = 0; i < n; i++) {
        x[i] *= 2;
    }
}

__global__ void scale(float *x) {
    x[threadIdx.x] *= 3;
}

/* How many threads a block may have stands before or after what the kernel returns. */
__launch_bounds__(32) __global__ void bounded_first(int *x) {
    x[threadIdx.x] = 1;
}

template <int Most> __global__ void __launch_bounds__(Most / 2, (1 + 1)) bounded_last(int *x) {
    int blockDim = 2; /* the body may have the name for something else */
    x[threadIdx.x + 4 * threadIdx.y + 16 * threadIdx.z] += blockDim;
}

__global__ __launch_bounds__(64) void bounded_later(int *x);
__global__ void bounded_later(int *x) {
    x[threadIdx.x] += 4;
}

static void bounds(int *x) {
    int ints[32];
    bounded_first<<<1, 32>>>(x);
    bounded_last<64><<<1, dim3(4, 4, 2)>>>(x);
    bounded_later<<<1, 32>>>(x);
    OK(cudaMemcpy(ints, x, sizeof ints, cudaMemcpyDeviceToHost));
    MUST(ints[0] == 7 && ints[15] == 7 && ints[31] == 7);
}

/* The host alone copies and destroys it; each thread has a copy of the bytes. */
struct Counted {
    static int copies, ends;
    float *out;
    int steps;
    Counted(float *memory) : out(memory), steps(0) {
    }
    Counted(const Counted &other) : out(other.out), steps(other.steps) {
        copies++;
    }
    ~Counted() {
        ends++;
    }
};
int Counted::copies, Counted::ends;

__global__ void use(Counted given, float value) {
    given.steps += threadIdx.x;
    given.out[threadIdx.x] = given.steps + value;
}

template <class T> __global__ void use_any(Counted given, T value) {
    given.steps += threadIdx.x;
    given.out[threadIdx.x] = given.steps + value;
}

/* Too large for a copy in place: compilers call memcpy(). */
struct Table {
    float value[512];
};

__global__ void look_up(float *x, Table table) {
    x[threadIdx.x] = table.value[16 * threadIdx.x];
}

template <class T> __global__ void look_up_any(T *x, Table table, T offset) {
    x[threadIdx.x] = table.value[16 * threadIdx.x + 1] + offset;
}

__device__ __forceinline__ float twice(float x) {
    return 2 * x;
}

__device__ __forceinline__ float square(float x) {
    return x * x;
}

__global__ void apply(float *x, int which) {
    float (*function)(float) = which ? square : twice;
    x[threadIdx.x] = function(x[threadIdx.x]);
}

template <class T> static void run(T *x, T value) {
    fill<<<2, 16>>>(x, value, 32);
    add<2><<<1, 32>>>(x, value);
    fill<T><<<1, 1>>>(x, value, 1);
}

int main() {
    float *x, host[32] = {1, 2, 3, 4};
    int *k, ints[32];
    OK(cudaMalloc(&x, sizeof host));
    OK(cudaMalloc(&k, sizeof ints));

    bounds(k);
    run(x, 1.5f);
    run(k, 7);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(ints, k, sizeof ints, cudaMemcpyDeviceToHost));
    MUST(host[0] == 1.5f && host[31] == 4.5f && ints[0] == 7 && ints[31] == 21);

    mark<<<1, 32>>>(k);
    mark<<<1, 32>>>(x, 2);
    scale<<<1, 32>>>(x);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(ints, k, sizeof ints, cudaMemcpyDeviceToHost));
    scale(host, 32);
    MUST(ints[31] == 1 && host[31] == 12);

    {
        Counted counted(x);
        use<<<1, 32>>>(counted, 0.5f);
        OK(cudaDeviceSynchronize());
    }
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    MUST(host[0] == 0.5f && host[31] == 31.5f);
    MUST(Counted::copies >= 1 && Counted::copies < 32 && Counted::ends == Counted::copies + 1);

    apply<<<1, 32>>>(x, 0);
    apply<<<1, 32>>>(x, 1);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    MUST(host[1] == 9);

    int before = Counted::copies;
    {
        Counted counted(x);
        use_any<<<1, 32>>>(counted, 0.25f);
        use_any<float><<<1, 32>>>(counted, 0.75f);
        OK(cudaDeviceSynchronize());
    }
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    MUST(host[0] == 0.75f && host[31] == 31.75f);
    MUST(Counted::copies < before + 32 && Counted::ends == Counted::copies + 2);

    Table table;
    for (int i = 0; i < 512; i++) {
        table.value[i] = i;
    }
    look_up<<<1, 32>>>(x, table);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    MUST(host[0] == 0 && host[31] == 496);
    look_up_any<<<1, 32>>>(x, table, 0.5f);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    MUST(host[0] == 1.5f && host[31] == 497.5f);
    OK(cudaFree(x));
    OK(cudaFree(k));
    return 0;
}
