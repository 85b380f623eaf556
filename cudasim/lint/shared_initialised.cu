/* Shared memory has no first value: a thread has to write it. */
__global__ void k(float *a) {
    __shared__ float sum = 0; /* lint: initialization is not supported for __shared__ variables */
    a[threadIdx.x] = sum;
}
