/* Memory that the host and kernels share: managed, pinned and mapped, registered. */
#include <cuda_runtime.h>
#include <string.h>

#include "check.cuh"

enum { N = 1000 };

__device__ __managed__ int total;

struct Node {
    Node *next;
    int value;
};

__global__ void twice(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 2 * x[i];
    }
}

__global__ void sum(const Node *list) {
    total = 0;
    for (; list != NULL; list = list->next) {
        total += list->value;
    }
}

static void fill(float *x) {
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
    }
}

static void look(const float *y) {
    for (int i = 0; i < N; i++) {
        MUST(y[i] == 2 * (float)i);
    }
}

static void managed_memory() {
    float *x, *y, *plain, copy[N];
    OK(cudaMallocManaged(&x, N * sizeof *x));
    OK(cudaMallocManaged((void **)&y, N * sizeof *y, cudaMemAttachGlobal));
    OK(cudaMalloc(&plain, N * sizeof *plain));
    fill(x);
    twice<<<(N + 255) / 256, 256>>>(x, y, N);
    OK(cudaDeviceSynchronize());
    look(y);
    x[0] = 5;
    OK(cudaMemcpy(plain, x, N * sizeof *x, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(y, plain, N * sizeof *x, cudaMemcpyDeviceToHost));
    MUST(y[0] == 5 && y[1] == 1);
    OK(cudaMemset(y, 0, N * sizeof *y)); /* of such memory the call waits for it */
    MUST(y[1] == 0);
    OK(cudaMemsetAsync(y, 1, N * sizeof *y, 0));
    OK(cudaDeviceSynchronize());
    MUST(y[1] > 0);
    OK(cudaMemcpy(copy, x, sizeof copy, cudaMemcpyDefault));
    MUST(memcmp(copy, x, sizeof copy) == 0);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, x));
    MUST(attributes.type == cudaMemoryTypeManaged);
    OK(cudaFree(x));
    OK(cudaFree(y));
    OK(cudaFree(plain));
}

static void linked_list() {
    Node *list = NULL;
    for (int i = 1; i <= 10; i++) {
        Node *node;
        OK(cudaMallocManaged(&node, sizeof *node));
        node->next = list;
        node->value = i;
        list = node;
    }
    sum<<<1, 1>>>(list);
    OK(cudaDeviceSynchronize());
    MUST(total == 55);
    while (list != NULL) {
        Node *next = list->next;
        OK(cudaFree(list));
        list = next;
    }
}

static void pinned_and_mapped() {
    float *x, *y, *device_x, *device_y;
    OK(cudaHostAlloc(&x, N * sizeof *x, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    y = (float *)malloc(N * sizeof *y);
    OK(cudaHostRegister(y, N * sizeof *y, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&device_x, x, 0));
    OK(cudaHostGetDevicePointer((void **)&device_y, y, 0));
    fill(x);
    twice<<<4, 256>>>(device_x, device_y, N);
    OK(cudaDeviceSynchronize());
    look(y);
    OK(cudaMemset(device_y, 0, N * sizeof *y));
    MUST(y[7] == 0);
    OK(cudaMemcpy(device_y, device_x, N * sizeof *y, cudaMemcpyDeviceToDevice));
    OK(cudaMemset(device_x, 0, N * sizeof *x));
    MUST(x[7] == 0 && y[7] == 7);
    OK(cudaMemcpy(device_x, y, N * sizeof *x, cudaMemcpyHostToDevice));
    OK(cudaMemsetAsync(device_y, 0, N * sizeof *y, 0));
    OK(cudaDeviceSynchronize());
    MUST(x[7] == 7 && y[7] == 0);
    OK(cudaHostUnregister(y));
    free(y);
    OK(cudaFreeHost(x));
}

int main() {
    managed_memory();
    linked_list();
    pinned_and_mapped();
    return 0;
}
