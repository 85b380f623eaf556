/* A thread cannot become another one. */
__global__ void k(float *a) {
    threadIdx.x = 3; /* lint: cannot assign to variable 'threadIdx' */
    a[threadIdx.x] = 0;
}
