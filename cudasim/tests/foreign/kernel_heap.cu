/* malloc(), free(), new, delete, printf() and assert() in a kernel, and on the host beside it. */
#include <assert.h>
#include <cuda_runtime.h>
#include <stdio.h>

#include "check.cuh"

struct Node {
    Node *next;
    int value;
};

__global__ void build(Node **lists, int n) {
    Node *list = NULL;
    for (int i = 0; i < n; i++) {
        Node *node = (Node *)malloc(sizeof *node);
        assert(node != NULL);
        node->next = list;
        node->value = i + (int)threadIdx.x;
        list = node;
    }
    lists[threadIdx.x] = list;
}

__global__ void take_down(Node **lists, int *sums) {
    int sum = 0;
    for (Node *node = lists[threadIdx.x]; node != NULL;) {
        Node *next = node->next;
        sum += node->value;
        free(node);
        node = next;
    }
    int *scratch = new int[4];
    scratch[3] = sum;
    sums[threadIdx.x] = scratch[3];
    delete[] scratch;
    if (threadIdx.x == 0) {
        printf("the first sum is %d\n", sum);
    }
}

int main() {
    Node **lists;
    int *sums, *host = (int *)malloc(32 * sizeof *host);
    OK(cudaMalloc(&lists, 32 * sizeof *lists));
    OK(cudaMalloc(&sums, 32 * sizeof *sums));
    build<<<1, 32>>>(lists, 5);
    take_down<<<1, 32>>>(lists, sums);
    OK(cudaMemcpy(host, sums, 32 * sizeof *sums, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 32; t++) {
        MUST(host[t] == 10 + 5 * t);
    }
    free(host);
    OK(cudaFree(lists));
    OK(cudaFree(sums));
    return 0;
}
