/* A variable that no word gives to the device is the host's. */
static float f;

__global__ void k(float *a) {
    a[threadIdx.x] = f; /* lint: reference to __host__ variable 'f' in __global__ function */
}
