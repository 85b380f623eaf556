/* A kernel runs on the GPU, where host functions do not exist. */
static float twice(float x) {
    return 2 * x;
}

__global__ void k(float *a) {
    a[threadIdx.x] = twice(a[threadIdx.x]); /* lint: no matching function for call to 'twice' */
}
