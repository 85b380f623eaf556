/* A variable that no word gives to the device is the host's. */
static float factor;

__global__ void k(float *a) {
    a[threadIdx.x] = factor; /* lint: reference to __host__ variable 'factor' in __global__ function */
}
