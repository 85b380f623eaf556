/* The other way round it is the same. */
static __device__ float twice(float x) {
    return 2 * x;
}

float four(void) {
    return twice(2); /* lint: no matching function for call to 'twice' */
}
