/* So is most of the C library. */
__global__ void k(float *a) {
    float *b = (float *)malloc(4); /* lint: no matching function for call to 'malloc' */
    a[threadIdx.x] = b[0];
}
