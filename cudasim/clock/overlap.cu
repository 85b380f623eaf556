/* Batches that are copied to the device and summed there. `overlap 1` has one stream for all of it;
   `overlap 2` copies in a stream of its own, into two slots, while the batch before is summed.
   docs/clock.md shows both. */
#include <cudasim_record.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { BATCHES = 6, SLOTS = 2, N = 1 << 18, BYTES = N * sizeof(float) };

/* One thread for each of 32 parts. The work of a real step would be far more: see its note. */
static __global__ void add_up(double *sum, const float *batch) {
    double part = 0;
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        part += batch[i];
    }
    sum[threadIdx.x] += part;
}

typedef struct Slot {
    float *batch;
    cudaEvent_t filled, used;
} Slot;

static Slot slots[SLOTS];
static cudaStream_t compute, copies;
static double *sum;

/* A slot may be filled again when what was in it has been used. */
static void fill(Slot *slot, const float *from) {
    OK(cudaStreamWaitEvent(copies, slot->used, 0));
    OK(cudaMemcpyAsync(slot->batch, from, BYTES, cudaMemcpyHostToDevice, copies));
    OK(cudaEventRecord(slot->filled, copies));
}

static void use(Slot *slot) {
    OK(cudaStreamWaitEvent(compute, slot->filled, 0));
    cudasim_note("add_up", 0, 20.0 * BYTES);
    add_up<<<1, 32, 0, compute>>>(sum, slot->batch);
    OK(cudaGetLastError());
    OK(cudaEventRecord(slot->used, compute));
}

int main(int count, char **word) {
    int streams = count > 1 ? atoi(word[1]) : 2;
    float *batches;
    double parts[32], total = 0;
    OK(cudaMallocHost(&batches, (size_t)BATCHES * BYTES));
    for (int i = 0; i < BATCHES * N; i++) {
        batches[i] = (float)(i / N);
    }
    OK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    copies = compute;
    if (streams == 2) {
        OK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    }
    OK(cudaMalloc(&sum, sizeof parts));
    OK(cudaMemsetAsync(sum, 0, sizeof parts, compute));
    for (int s = 0; s < SLOTS; s++) {
        OK(cudaMalloc(&slots[s].batch, BYTES));
        OK(cudaEventCreateWithFlags(&slots[s].filled, cudaEventDisableTiming));
        OK(cudaEventCreateWithFlags(&slots[s].used, cudaEventDisableTiming));
    }
    for (int b = 0; b < BATCHES; b++) {
        fill(&slots[b % SLOTS], batches + (size_t)b * N);
        use(&slots[b % SLOTS]);
    }
    OK(cudaMemcpyAsync(parts, sum, sizeof parts, cudaMemcpyDeviceToHost, compute));
    OK(cudaStreamSynchronize(compute));
    for (int i = 0; i < 32; i++) {
        total += parts[i];
    }
    printf("%.0f, expected %.0f\n", total, N * BATCHES * (BATCHES - 1) / 2.0);
    return total != N * BATCHES * (BATCHES - 1) / 2.0;
}
