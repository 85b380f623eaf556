/* `make bench-simulator`: the same work on each of R devices, CUDASIM_DEVICES=R: two streams of small
   kernels, copies from and to pinned memory, an event for the neighbour, a copy to it. Prints the
   processor time of a step in microseconds, for all devices together. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 64, N = 1024, LAUNCHES = 10 };

struct Part {
    float *x, *got, *host; /* [N]; of the device, from the neighbour, of the host */
    cudaStream_t stream, other;
    cudaEvent_t ready;
};

static Part parts[MOST];
static int devices;

static __global__ void add(float *x, float value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

static void must(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "devices: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static void prepare(Part *part) {
    must(cudaMalloc(&part->x, N * sizeof *part->x));
    must(cudaMalloc(&part->got, N * sizeof *part->got));
    must(cudaMallocHost(&part->host, N * sizeof *part->host));
    must(cudaStreamCreate(&part->stream));
    must(cudaStreamCreate(&part->other));
    must(cudaEventCreate(&part->ready));
    for (int i = 0; i < N; i++) {
        part->host[i] = 1;
    }
}

static void submit(int d) {
    Part *part = &parts[d];
    size_t bytes = N * sizeof *part->x;
    must(cudaSetDevice(d));
    must(cudaMemcpyAsync(part->x, part->host, bytes, cudaMemcpyHostToDevice, part->stream));
    for (int i = 0; i < LAUNCHES; i++) {
        add<<<4, N / 4, 0, part->stream>>>(part->x, 1);
    }
    must(cudaEventRecord(part->ready, part->stream));
}

/* What the device before it has computed. */
static void fetch(int d) {
    Part *part = &parts[d];
    int from = (d + devices - 1) % devices;
    size_t bytes = N * sizeof *part->x;
    must(cudaSetDevice(d));
    must(cudaStreamWaitEvent(part->other, parts[from].ready, 0));
    must(cudaMemcpyPeerAsync(part->got, d, parts[from].x, from, bytes, part->other));
    add<<<4, N / 4, 0, part->other>>>(part->got, -LAUNCHES);
    must(cudaMemcpyAsync(part->host, part->got, bytes, cudaMemcpyDeviceToHost, part->other));
}

static void step(void) {
    for (int d = 0; d < devices; d++) {
        submit(d);
    }
    for (int d = 0; d < devices; d++) {
        fetch(d);
    }
    for (int d = 0; d < devices; d++) {
        must(cudaSetDevice(d));
        must(cudaDeviceSynchronize());
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 1;
    must(cudaGetDeviceCount(&devices));
    for (int d = 0; d < devices; d++) {
        must(cudaSetDevice(d));
        prepare(&parts[d]);
    }
    step();
    double begin = seconds();
    for (int i = 0; i < steps; i++) {
        step();
    }
    printf("name=devices cpu=%.2f\n", (seconds() - begin) / steps * 1e6);
    for (int d = 0; d < devices; d++) {
        if (parts[d].host[N - 1] != 1) {
            fprintf(stderr, "devices: device %d has %g\n", d, parts[d].host[N - 1]);
            return 1;
        }
    }
    return 0;
}
