#include "grader/labs/02_kernels/protocol.h"

#include <stdio.h>

const char *kernel_tensor(char *name, const char *tensor, int i, const KernelCase *c) {
    snprintf(name, WIRE_NAME, "%s %d: %s (%d, %d)", tensor, i,
             precision_name((Precision)c->precision), c->N, c->C);
    return name;
}

size_t kernel_begin(int N, int i) {
    int one = N / 3, block = one + (N > 0), part = block + (N > 512 ? TENSOR_BLOCK : 0);
    const int begin[] = {0, one, block, part, part + (N > 64 ? 33 : 0), N};
    return (size_t)begin[i];
}

void kernel_cut(int N, size_t n[KERNEL_TENSORS]) {
    for (int i = 0; i < KERNEL_TENSORS; i++) {
        n[i] = kernel_begin(N, i + 1) - kernel_begin(N, i);
    }
}

bool kernel_decays(int i) {
    return i % 2 == 0;
}
