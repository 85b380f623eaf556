/* The host's ends of copies, each just large enough, and data that host functions own. */
#include <cuda_runtime.h>

#include <array>
#include <memory>
#include <vector>

#include "check.cuh"

enum { N = 64 };

__global__ void count(float *x) {
    x[threadIdx.x] = threadIdx.x;
}

struct Parts {
    int number;
    float x[4];
    char rest[12];
};

static __device__ float variable[8];

static float *x;

static void arrays(int n) {
    static float table[N];
    std::array<float, N> array;
    float number;
    Parts parts;
    OK(cudaMemcpy(table, x, sizeof table, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(table + n - 4, x, 4 * sizeof(float), cudaMemcpyDeviceToHost));
    MUST(table[N - 1] == 3 && table[0] == 0);
    OK(cudaMemcpy(&array[N - 4], table, 4 * sizeof(float), cudaMemcpyHostToHost));
    OK(cudaMemcpy(&number, x + 5, sizeof number, cudaMemcpyDeviceToHost));
    MUST(number == 5);
    OK(cudaMemcpy(&parts.x, x, sizeof parts.x, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(&parts.number, x, sizeof parts, cudaMemcpyDeviceToHost));
    MUST(parts.x[2] == 3);
    void *address;
    OK(cudaGetSymbolAddress(&address, variable));
    OK(cudaMemcpy(address, table, sizeof variable, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(table + N - 8, address, sizeof variable, cudaMemcpyDeviceToHost));
}

/* Static and global variables by a pointer: whole, from their midst on, up to their end, and
   members of a structure that are neighbours. */
static float global[N];
static const float constants[N] = {1, 2, 3};
static Parts whole;
template <class Type> Type of_template[N];

static __attribute__((noinline)) void down(void *to, size_t bytes) {
    OK(cudaMemcpy(to, x, bytes, cudaMemcpyDeviceToHost));
}

static void variables(int n) {
    static double in_function[N];
    size_t bytes = n * sizeof(float);
    float *begin_and_middle[] = {global, global + n / 2};
    for (float *p : begin_and_middle) {
        down(p, bytes / 2);
    }
    MUST(global[N - 1] == N / 2 - 1);
    down(in_function + n / 2, bytes);
    down(of_template<float>, bytes);
    down(of_template<int> + n - 1, sizeof(int));
    down(whole.x, 7 * sizeof(float));
    MUST(whole.x[3] == 3 && whole.rest[11] != 0);
    OK(cudaMemcpy(x, constants, bytes, cudaMemcpyHostToDevice));
    down(global, bytes);
    MUST(global[2] == 3 && global[N - 1] == 0);
    count<<<1, 2 * N>>>(x);
    OK(cudaGetLastError());
}

static void from_heap(int n) {
    size_t bytes = n * sizeof(float);
    float *made = new float[n], *grown = (float *)malloc(bytes / 2), *middle = made + n / 2;
    std::vector<float> vector(n);
    auto unique = std::make_unique<float[]>(n);
    grown = (float *)realloc(grown, 2 * bytes);
    vector.resize(2 * n);
    for (float *p : {made, vector.data(), unique.get()}) {
        OK(cudaMemcpy(p, x, bytes, cudaMemcpyDeviceToHost));
        MUST(p[n - 1] == n - 1);
    }
    OK(cudaMemcpy(grown, x, 2 * bytes, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(vector.data(), x, 2 * bytes, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(middle, x, bytes / 2, cudaMemcpyDeviceToHost));
    OK(cudaMemcpyAsync(n > 100 ? middle : made, x + n, bytes, cudaMemcpyDeviceToHost));
    OK(cudaStreamSynchronize(0));
    MUST(grown[2 * n - 1] == 2 * n - 1 && vector[2 * n - 1] == 2 * n - 1 && made[0] == n);
    delete[] made;
    free(grown);
}

/* Each call frees its own data, and one keeps it in a local variable of who waits. */
static void CUDART_CB add_own(void *data) {
    std::unique_ptr<std::pair<int, int *>> job(static_cast<std::pair<int, int *> *>(data));
    *job->second += job->first;
}

static __attribute__((noinline)) void add_later(cudaStream_t stream, int number, int *sum) {
    OK(cudaLaunchHostFunc(stream, add_own, new std::pair<int, int *>(number, sum)));
}

static void host_functions(void) {
    cudaStream_t stream;
    int sum = 0;
    OK(cudaStreamCreate(&stream));
    for (int i = 1; i <= 4; i++) {
        add_later(stream, i, &sum);
    }
    OK(cudaStreamSynchronize(stream));
    MUST(sum == 10);
    OK(cudaStreamDestroy(stream));
}

int main(int argc, char **) {
    OK(cudaMalloc(&x, 2 * N * sizeof(float)));
    count<<<1, 2 * N>>>(x);
    OK(cudaGetLastError());
    arrays(argc * N);
    variables(argc * N);
    from_heap(argc * N);
    host_functions();
    OK(cudaFree(x));
    puts("host's ends: good");
    return 0;
}
