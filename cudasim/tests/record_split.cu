/* A grid of ranks, as tensor and data parallelism have it: communicators of its rows and of its
   columns, and a collective in each, in a stream each. The streams of all ranks are there at once.
   The arguments are the numbers of rows and of columns. */
#include <nccl.h>

#include "cudasim_ranks.h"
#include "foreign/check.cuh"

enum { N = 1 << 10 };

static int rows, columns;
static ncclUniqueId id;

static __global__ void work(float *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

static void run(int rank, void *context) {
    (void)context;
    ncclComm_t all, row, column;
    cudaStream_t stream, other;
    cudaEvent_t event;
    float *x;
    int row_rank, column_rank, row_size;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(ncclCommInitRank(&all, rows * columns, id, rank));
    OK(ncclCommSplit(all, rank / columns, rank, &row, NULL));
    OK(ncclCommSplit(all, rank % columns, rank, &column, NULL));
    OK(ncclCommUserRank(row, &row_rank));
    OK(ncclCommUserRank(column, &column_rank));
    OK(ncclCommCount(row, &row_size));
    if (row_rank != rank % columns || column_rank != rank / columns || row_size != columns) {
        fprintf(stderr, "rank %d is %d of %d in its row, %d in its column\n", rank, row_rank,
                row_size, column_rank);
        exit(1);
    }
    OK(cudaMalloc(&x, N * sizeof *x));
    work<<<N / 128, 128, 0, stream>>>(x);
    OK(ncclAllReduce(x, x, N, ncclFloat, ncclSum, row, stream));
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(other, event, 0));
    OK(ncclAllReduce(x, x, N, ncclFloat, ncclSum, column, other));
    OK(cudaStreamSynchronize(other));
    OK(cudaFree(x));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(other));
    OK(ncclCommDestroy(row));
    OK(ncclCommDestroy(column));
    OK(ncclCommDestroy(all));
}

int main(int count, char **word) {
    rows = count > 1 ? atoi(word[1]) : 2;
    columns = count > 2 ? atoi(word[2]) : 2;
    OK(ncclGetUniqueId(&id));
    cudasim_ranks_run(rows * columns, run, NULL);
    return 0;
}
