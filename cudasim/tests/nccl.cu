/**
 * @file nccl.cu
 * @brief NCCL between ranks of one process: what tools/nccl/nccl_check.c does not ask.
 * @ingroup cudasim
 */
#include <cudasim_nccl.h>
#include <cudasim_ranks.h>
#include <math.h>
#include <string.h>

#include <thread>
#include <vector>

#include "foreign/check.cuh"

enum { RANKS = 4, N = 6 };

static ncclUniqueId ids[8]; /* for a communicator each */

/* A rank's part: a communicator of all, a stream, and N floats `rank + 1`. */
struct Part {
    int rank;
    ncclComm_t comm;
    cudaStream_t stream;
    float *x;
};

static void set(const Part *p, float *to, float value) {
    float host[N];
    for (int i = 0; i < N; i++) {
        host[i] = value;
    }
    MUST(cudaMemcpyAsync(to, host, sizeof host, cudaMemcpyHostToDevice, p->stream) == 0);
}

/* The first number, if all are equal. */
static float get(const Part *p, const float *from) {
    float host[N];
    MUST(cudaMemcpyAsync(host, from, sizeof host, cudaMemcpyDeviceToHost, p->stream) == 0);
    MUST(cudaStreamSynchronize(p->stream) == 0);
    for (int i = 1; i < N; i++) {
        MUST(memcmp(&host[i], &host[0], sizeof host[0]) == 0);
    }
    return host[0];
}

static Part begin(int rank, const ncclUniqueId *id) {
    Part p = {rank, NULL, NULL, NULL};
    MUST(ncclCommInitRank(&p.comm, RANKS, *id, rank) == ncclSuccess);
    MUST(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking) == 0);
    MUST(cudaMalloc(&p.x, N * sizeof(float)) == 0);
    set(&p, p.x, rank + 1);
    return p;
}

static void end(Part *p) {
    MUST(cudaStreamSynchronize(p->stream) == 0);
    MUST(ncclCommDestroy(p->comm) == ncclSuccess);
    MUST(cudaFree(p->x) == 0);
    MUST(cudaStreamDestroy(p->stream) == 0);
}

/* ---- communicators --------------------------------------------------------------------------- */

static void questions(int rank, void *) {
    Part p = begin(rank, &ids[0]);
    int count = 0, device = -1, mine = -1, version = 0;
    ncclResult_t error = ncclInternalError;
    MUST(ncclCommCount(p.comm, &count) == ncclSuccess && count == RANKS);
    MUST(ncclCommUserRank(p.comm, &mine) == ncclSuccess && mine == rank);
    MUST(ncclCommCuDevice(p.comm, &device) == ncclSuccess && device == rank);
    MUST(ncclGetVersion(&version) == ncclSuccess && version == NCCL_VERSION_CODE);
    MUST(ncclCommGetAsyncError(p.comm, &error) == ncclSuccess && error == ncclSuccess);
    MUST(strcmp(ncclGetErrorString(ncclSuccess), "no error") == 0);
    MUST(ncclGetLastError(p.comm) != NULL);
    end(&p);
}

/* Rows and columns of a square of ranks; keys turn the order around. */
static void splits(int rank, void *) {
    Part p = begin(rank, &ids[1]);
    ncclComm_t row, column, none;
    int mine;
    MUST(ncclCommSplit(p.comm, rank / 2, -rank, &row, NULL) == ncclSuccess);
    MUST(ncclCommSplit(p.comm, rank % 2, rank, &column, NULL) == ncclSuccess);
    MUST(ncclCommUserRank(row, &mine) == ncclSuccess && mine == 1 - rank % 2);
    MUST(ncclAllReduce(p.x, p.x, N, ncclFloat, ncclSum, row, p.stream) == ncclSuccess);
    MUST(get(&p, p.x) == (rank < 2 ? 3 : 7));
    MUST(ncclAllReduce(p.x, p.x, N, ncclFloat, ncclSum, column, p.stream) == ncclSuccess);
    MUST(get(&p, p.x) == 10);
    MUST(cudasim_wire_bytes(rank) > 0);
    int color = rank == 0 ? NCCL_SPLIT_NOCOLOR : 0;
    MUST(ncclCommSplit(p.comm, color, 0, &none, NULL) == ncclSuccess);
    MUST((none == NULL) == (rank == 0));
    if (none != NULL) {
        MUST(ncclCommFinalize(none) == ncclSuccess && ncclCommDestroy(none) == ncclSuccess);
    }
    MUST(ncclCommDestroy(row) == ncclSuccess && ncclCommDestroy(column) == ncclSuccess);
    end(&p);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Everybody sends to everybody, and to itself. */
static void all_to_all(int rank, void *) {
    Part p = begin(rank, &ids[2]);
    float *out, *in, host[RANKS];
    MUST(cudaMalloc(&out, sizeof host) == 0 && cudaMalloc(&in, sizeof host) == 0);
    for (int r = 0; r < RANKS; r++) {
        host[r] = 10 * rank + r;
    }
    MUST(cudaMemcpyAsync(out, host, sizeof host, cudaMemcpyHostToDevice, p.stream) == 0);
    MUST(ncclGroupStart() == ncclSuccess);
    for (int i = 0; i < RANKS; i++) {
        int r = (rank + i) % RANKS; /* in an order of its own */
        MUST(ncclGroupStart() == ncclSuccess);
        MUST(ncclSend(out + r, 1, ncclFloat, r, p.comm, p.stream) == ncclSuccess);
        MUST(ncclRecv(in + r, 1, ncclFloat, r, p.comm, p.stream) == ncclSuccess);
        MUST(ncclGroupEnd() == ncclSuccess);
    }
    MUST(ncclGroupEnd() == ncclSuccess);
    MUST(cudaMemcpyAsync(host, in, sizeof host, cudaMemcpyDeviceToHost, p.stream) == 0);
    MUST(cudaStreamSynchronize(p.stream) == 0);
    for (int r = 0; r < RANKS; r++) {
        MUST(host[r] == 10 * r + rank);
    }
    MUST(cudaFree(out) == 0 && cudaFree(in) == 0);
    end(&p);
}

/* A message goes down a line of ranks: a receive, then a send, in one group with another pair. */
static void line_of_ranks(int rank, void *) {
    Part p = begin(rank, &ids[3]);
    float *y;
    MUST(cudaMalloc(&y, N * sizeof(float)) == 0);
    set(&p, y, 0);
    if (rank == 0) {
        MUST(ncclSend(p.x, N, ncclFloat, 1, p.comm, p.stream) == ncclSuccess);
        MUST(ncclSend(p.x, N, ncclFloat, 2, p.comm, p.stream) == ncclSuccess);
    } else if (rank == 1) {
        /* The receive is over before rank 2 comes for the other. */
        MUST(ncclGroupStart() == ncclSuccess);
        MUST(ncclRecv(y, N, ncclFloat, 0, p.comm, p.stream) == ncclSuccess);
        MUST(ncclSend(p.x, N, ncclFloat, 2, p.comm, p.stream) == ncclSuccess);
        MUST(ncclGroupEnd() == ncclSuccess);
        MUST(get(&p, y) == 1);
    } else if (rank == 2) {
        MUST(ncclRecv(y, N, ncclFloat, 0, p.comm, p.stream) == ncclSuccess);
        MUST(get(&p, y) == 1);
        MUST(ncclRecv(y, N, ncclFloat, 1, p.comm, p.stream) == ncclSuccess);
        MUST(get(&p, y) == 2);
    }
    MUST(cudaFree(y) == 0);
    end(&p);
}

static __global__ void store(float *x, float value) {
    x[threadIdx.x] = value;
}

/* The streams of a group wait for each other, before it and after it. */
static void two_streams(int rank, void *) {
    Part p = begin(rank, &ids[4]);
    cudaStream_t other;
    float *y, *z;
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == 0);
    MUST(cudaMalloc(&y, N * sizeof(float)) == 0 && cudaMalloc(&z, N * sizeof(float)) == 0);
    MUST(cudaStreamSynchronize(p.stream) == 0);
    store<<<1, N, 0, other>>>(y, 5);
    store<<<1, N, 0, other>>>(z, 6);
    MUST(cudaGetLastError() == 0);
    MUST(ncclGroupStart() == ncclSuccess);
    MUST(ncclAllReduce(z, z, N, ncclFloat, ncclMax, p.comm, p.stream) == ncclSuccess);
    MUST(ncclAllReduce(y, y, N, ncclFloat, ncclSum, p.comm, other) == ncclSuccess);
    MUST(ncclGroupEnd() == ncclSuccess);
    /* This stream has done nothing with y. */
    MUST(get(&p, y) == 20);
    MUST(get(&p, z) == 6);
    /* Messages to one rank arrive in the order in which they were called, whatever the streams. */
    int next = (rank + 1) % RANKS, last = (rank + RANKS - 1) % RANKS;
    set(&p, p.x, 1);
    set(&p, y, 2);
    MUST(ncclGroupStart() == ncclSuccess);
    MUST(ncclSend(p.x, 1, ncclFloat, next, p.comm, other) == ncclSuccess);
    MUST(ncclSend(y, 1, ncclFloat, next, p.comm, p.stream) == ncclSuccess);
    MUST(ncclRecv(z, 1, ncclFloat, last, p.comm, other) == ncclSuccess);
    MUST(ncclRecv(z + 1, 1, ncclFloat, last, p.comm, p.stream) == ncclSuccess);
    MUST(ncclGroupEnd() == ncclSuccess);
    float two[2];
    MUST(cudaMemcpyAsync(two, z, sizeof two, cudaMemcpyDeviceToHost, other) == 0);
    MUST(cudaStreamSynchronize(other) == 0);
    MUST(two[0] == 1 && two[1] == 2);
    MUST(cudaStreamSynchronize(p.stream) == 0);
    MUST(cudaFree(y) == 0 && cudaFree(z) == 0 && cudaStreamDestroy(other) == 0);
    end(&p);
}

/* ---- late on purpose ------------------------------------------------------------------------- */

/* Who only asks gets on, too: but not before the others have called. */
static void asking(int rank, void *) {
    Part p = begin(rank, &ids[5]);
    MUST(cudaStreamSynchronize(p.stream) == 0);
    MUST(ncclAllReduce(p.x, p.x, N, ncclFloat, ncclSum, p.comm, p.stream) == ncclSuccess);
    MUST(cudaStreamQuery(p.stream) == cudaErrorNotReady);
    int questions = 0;
    while (cudaStreamQuery(p.stream) == cudaErrorNotReady) {
        MUST(++questions < 1000);
    }
    MUST(get(&p, p.x) == 10);
    if (rank == 0) {
        /* To ask does not wait: rank 1 comes only when the message has. */
        MUST(ncclAllReduce(p.x, p.x, 1, ncclFloat, ncclSum, p.comm, p.stream) == ncclSuccess);
        MUST(cudaStreamQuery(p.stream) == cudaErrorNotReady);
        MUST(ncclSend(p.x + 1, 1, ncclFloat, 1, p.comm, NULL) == ncclSuccess);
    } else {
        if (rank == 1) {
            MUST(ncclRecv(p.x + 1, 1, ncclFloat, 0, p.comm, NULL) == ncclSuccess);
            MUST(cudaStreamSynchronize(NULL) == 0);
        }
        MUST(ncclAllReduce(p.x, p.x, 1, ncclFloat, ncclSum, p.comm, p.stream) == ncclSuccess);
    }
    MUST(cudaDeviceSynchronize() == 0);
    end(&p);
}

/* ---- memory of the host ---------------------------------------------------------------------- */

static void host_memory(int rank, void *) {
    Part p = begin(rank, &ids[6]);
    float x[N], all[RANKS][N];
    MUST(cudasim_comm_on_host(p.comm) == ncclSuccess);
    for (int i = 0; i < N; i++) {
        x[i] = rank + i;
    }
    MUST(ncclAllGather(x, all, N, ncclFloat, p.comm, p.stream) == ncclSuccess);
    MUST(ncclAllReduce(x, x, N, ncclFloat, ncclMax, p.comm, p.stream) == ncclSuccess);
    MUST(cudaStreamSynchronize(p.stream) == 0);
    for (int i = 0; i < N; i++) {
        MUST(x[i] == RANKS - 1 + i && all[2][i] == 2 + i);
    }
    end(&p);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static float reduced(const Part *p, float mine, ncclRedOp_t op) {
    set(p, p->x, mine);
    MUST(ncclAllReduce(p->x, p->x, N, ncclFloat, op, p->comm, p->stream) == ncclSuccess);
    return get(p, p->x);
}

static void numbers(int rank, void *) {
    Part p = begin(rank, &ids[7]);
    /* In the order of ranks: 2^24 + 1 is 2^24, twice; 1 + 1 would have been kept. */
    MUST(reduced(&p, rank == 0 ? 0x1p24f : rank < 3 ? 1 : 0, ncclSum) == 0x1p24f);
    MUST(reduced(&p, rank == 3 ? 0x1p24f : rank < 2 ? 1 : 0, ncclSum) == 0x1p24f + 2);
    MUST(isnan(reduced(&p, rank == 2 ? NAN : 1, ncclSum)));
    MUST(reduced(&p, rank == 2 ? NAN : rank, ncclMax) == 3);
    MUST(reduced(&p, rank == 0 ? NAN : rank, ncclMin) == 1);
    MUST(isnan(reduced(&p, NAN, ncclMax)));
    MUST(reduced(&p, rank, ncclAvg) == 1.5f);
    MUST(isinf(reduced(&p, 0x1p127f, ncclAvg)));
    /* Nothing at all is right, too. */
    MUST(ncclAllReduce(NULL, NULL, 0, ncclFloat, ncclSum, p.comm, p.stream) == ncclSuccess);
    end(&p);
}

/* ---- one thread, all ranks ------------------------------------------------------------------- */

static void one_thread(void) {
    ncclComm_t comm[RANKS], half[RANKS];
    ncclUniqueId id;
    float *x[RANKS], host[N];
    double before = cudasim_wire_bytes(1);
    MUST(ncclGetUniqueId(&id) == ncclSuccess);
    MUST(ncclGroupStart() == ncclSuccess);
    for (int r = 0; r < RANKS; r++) {
        MUST(cudaSetDevice(r) == 0);
        MUST(ncclCommInitRank(&comm[r], RANKS, id, r) == ncclSuccess);
    }
    MUST(ncclGroupEnd() == ncclSuccess);
    MUST(ncclGroupStart() == ncclSuccess);
    for (int r = 0; r < RANKS; r++) {
        MUST(ncclCommSplit(comm[r], r % 2, r, &half[r], NULL) == ncclSuccess);
    }
    MUST(ncclGroupEnd() == ncclSuccess);
    for (int r = 0; r < RANKS; r++) {
        MUST(cudaSetDevice(r) == 0);
        MUST(cudaMalloc(&x[r], sizeof host) == 0);
        store<<<1, N>>>(x[r], r);
        MUST(cudaGetLastError() == 0);
    }
    /* Several calls, several communicators, the default stream of each device. */
    MUST(ncclGroupStart() == ncclSuccess);
    for (int r = 0; r < RANKS; r++) {
        MUST(ncclBroadcast(x[r], x[r], 2, ncclFloat, 3, comm[r], NULL) == ncclSuccess);
        MUST(ncclBcast(x[r] + 2, N - 2, ncclFloat, 1, half[r], NULL) == ncclSuccess);
    }
    MUST(ncclGroupEnd() == ncclSuccess);
    for (int r = 0; r < RANKS; r++) {
        MUST(cudaSetDevice(r) == 0);
        MUST(cudaMemcpy(host, x[r], sizeof host, cudaMemcpyDeviceToHost) == 0);
        MUST(host[1] == 3 && host[2] == r % 2 + 2 && host[N - 1] == r % 2 + 2);
    }
    /* Rank 1 passes the broadcast of all on, and is not before the root of its half. */
    MUST(cudasim_wire_bytes(1) - before == 2 * sizeof(float));
    for (int r = 0; r < RANKS; r++) {
        MUST(ncclCommDestroy(half[r]) == ncclSuccess);
        MUST(ncclCommAbort(comm[r]) == ncclSuccess);
        MUST(cudaFree(x[r]) == 0);
    }
}

/* ---- a thread for each rank ------------------------------------------------------------------ */

static void thread_of_rank(int rank, const ncclUniqueId *id) {
    MUST(cudaSetDevice(rank) == 0);
    Part p = begin(rank, id);
    for (int i = 0; i < 20; i++) {
        MUST(reduced(&p, rank, ncclSum) == 6);
    }
    end(&p);
}

static void threads(void) {
    ncclUniqueId id;
    std::vector<std::thread> threads;
    MUST(ncclGetUniqueId(&id) == ncclSuccess);
    for (int rank = 0; rank < RANKS; rank++) {
        threads.emplace_back(thread_of_rank, rank, &id);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

int main(void) {
    for (ncclUniqueId &id : ids) {
        MUST(ncclGetUniqueId(&id) == ncclSuccess);
    }
    void (*const bodies[])(int, void *) = {questions,   splits, all_to_all,  line_of_ranks,
                                           two_streams, asking, host_memory, numbers};
    for (auto body : bodies) {
        MUST(cudasim_ranks_run(RANKS, body, NULL) == 0);
    }
    one_thread();
    threads();
    MUST(cudasim_wire_bytes(-1) == 0 && cudasim_wire_bytes(99) == 0);
    puts("good");
}
