/* The host frees, by cudaFree(), a list that kernels have made with new. On a GPU the call fails
   and the memory stays: what a kernel has taken a kernel must give back. */
#include "try.cuh"

typedef struct Node {
    int value;
    struct Node *next;
} Node;

static __global__ void push(Node **head) {
    Node *node = new Node;
    node->value = 5;
    node->next = NULL;
    *head = node;
}

static __global__ void clear(Node **head) {
    delete *head;
}

int main(void) {
    Node **head, *first = NULL;
    TRY(cudaMalloc(&head, sizeof *head));
    push<<<1, 1>>>(head);
    TRY(cudaMemcpy(&first, head, sizeof first, cudaMemcpyDeviceToHost));
#ifdef MENDED
    clear<<<1, 1>>>(head);
    TRY(cudaDeviceSynchronize());
#else
    (void)cudaFree(first); /* expect: invalid free */
    (void)clear;
#endif
    TRY(cudaFree(head));
    return expect(first != NULL, 1);
}
