/* A launch has the kernel's parameters. */
__global__ void k(float *a) {
    a[threadIdx.x] = 0;
}

void f(float *a) {
    k<<<1, 32>>>(a, 3); /* lint: too many arguments to function call */
}
