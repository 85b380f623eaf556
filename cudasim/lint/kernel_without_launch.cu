/* A kernel is launched and not called. */
__global__ void k(float *a) {
    a[threadIdx.x] = 0;
}

void f(float *a) {
    k(a); /* lint: call to global function 'k' not configured */
}
