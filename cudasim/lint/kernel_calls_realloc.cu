/* So is most of the C library. A kernel has malloc() and free(), and no realloc(). */
__global__ void k(float *a) {
    float *b = (float *)malloc(4);
    b = (float *)realloc(b, 8); /* lint: no matching function for call to 'realloc' */
    a[threadIdx.x] = b[0];
    free(b);
}
