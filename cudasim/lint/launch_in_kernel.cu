/* Launches within kernels, dynamic parallelism, are not simulated. */
__global__ void k(float *a) {
    a[threadIdx.x] = 0;
}

__global__ void parent(float *a) {
    a[32 + threadIdx.x] = 1;
    k<<<1, 32>>>(a); /* lint: reference to __global__ function 'k' in __global__ function */
}
