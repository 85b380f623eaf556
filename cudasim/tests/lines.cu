/* The places that reports name: each instruction of a kernel has the file, a line inside of the
   kernel, and the kernel's name, though compilers give line 0 to some of them. That is the
   simulator's own promise, so this asks its inside. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8, FIRST = __LINE__ + 1 };
static __global__ void last(int *out, const int *next) {
    int i = threadIdx.x;
    for (; next[i] != i; i = next[i]) {
    }
    out[threadIdx.x] = i;
}
enum { LAST = __LINE__ - 1 };

/* The line that a text such as "lines.cu:15 (last)" names, or 0. */
static int line_of(const char *text) {
    static const char file[] = "lines.cu:";
    const char *found = strstr(text, file);
    return found != NULL ? atoi(found + strlen(file)) : 0;
}

int main(void) {
    int host[N], *next, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i + 1 < N ? i + 1 : i;
    }
    if (cudaMalloc(&next, sizeof host) != cudaSuccess ||
        cudaMalloc(&out, sizeof host) != cudaSuccess ||
        cudaMemcpy(next, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess) {
        return 1;
    }
    last<<<1, N>>>(out, next);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        return 1;
    }
    int seen = 0, wrong = 0;
    for (const char *pc = (const char *)last + 1;; pc++, seen++) {
        char text[600];
        cudasim_describe_code(pc, text, sizeof text);
        if (strstr(text, "(last)") == NULL) {
            break;
        }
        int line = line_of(text);
        if (!(line >= FIRST && line <= LAST)) {
            printf("%d bytes after its begin: %s\n", seen, text);
            wrong++;
        }
    }
    printf("%d bytes of code, %d without a line\n", seen, wrong);
    return seen < 32 || wrong > 0;
}
