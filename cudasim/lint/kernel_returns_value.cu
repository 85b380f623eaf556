/* A launch has no result. */
__global__ int k(float *a) { /* lint: must have void return type */
    a[threadIdx.x] = 0;
    return 0;
}
