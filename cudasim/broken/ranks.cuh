/**
 * @file ranks.cuh
 * @brief What the broken programs of several ranks share: each rank has a device, a communicator,
 * a stream and two buffers. On GPUs a rank is a thread.
 * @ingroup cudasim
 */
#pragma once

#include <nccl.h>

#ifdef CUDASIM
#include <cudasim_ranks.h>
#else
#include <thread>
#include <vector>
#endif

#include "try.cuh"

enum {
    N = 8,    /**< elements that a call moves for a rank */
    ROOM = 64 /**< elements of a buffer */
};

/** What a rank has. */
struct Rank {
    int rank;            /**< its number */
    int ranks;           /**< how many there are */
    ncclComm_t comm;     /**< of all ranks */
    cudaStream_t stream; /**< of its own */
    float *a;            /**< (ROOM) on the device: element i is 100 * rank + i */
    float *b;            /**< (ROOM) on the device: ones */
};

/** The part of a program that each rank runs; what it returns is added up. */
typedef double (*RankBody)(const Rank *me);

/** All of a run. */
struct RankRun {
    int ranks;       /**< how many */
    ncclUniqueId id; /**< one for all */
    RankBody body;   /**< see RankBody */
    double *result;  /**< (ranks) what each has returned */
};

/** The first n numbers at p on the device, when the rank's stream has done its work. */
static inline double fetched(const Rank *me, const float *p, int n) {
    float host[ROOM];
    TRY(cudaMemcpyAsync(host, p, n * sizeof(float), cudaMemcpyDeviceToHost, me->stream));
    TRY(cudaStreamSynchronize(me->stream));
    return checksum(host, n);
}

/** One rank: gets what it has, runs the body, and gives it back. */
static inline void run_rank(int rank, void *context) {
    RankRun *run = (RankRun *)context;
    Rank me = {rank, run->ranks, NULL, NULL, NULL, NULL};
    float host[2][ROOM];
    for (int i = 0; i < ROOM; i++) {
        host[0][i] = 100 * rank + i;
        host[1][i] = 1;
    }
    TRY(cudaSetDevice(rank));
    TRY(cudaStreamCreateWithFlags(&me.stream, cudaStreamNonBlocking));
    TRY(cudaMalloc(&me.a, sizeof host[0]));
    TRY(cudaMalloc(&me.b, sizeof host[1]));
    TRY(cudaMemcpy(me.a, host[0], sizeof host[0], cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(me.b, host[1], sizeof host[1], cudaMemcpyHostToDevice));
    TRY(ncclCommInitRank(&me.comm, me.ranks, run->id, rank));
    run->result[rank] = run->body(&me);
    TRY(cudaStreamSynchronize(me.stream));
    TRY(ncclCommDestroy(me.comm));
    TRY(cudaFree(me.a));
    TRY(cudaFree(me.b));
    TRY(cudaStreamDestroy(me.stream));
}

/** Calls a function for each rank, of all ranks at a time. */
static inline void for_all_ranks(int ranks, void (*call)(int, void *), void *context) {
#ifdef CUDASIM
    cudasim_ranks_run(ranks, call, context);
#else
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; rank++) {
        threads.emplace_back(call, rank, context);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
#endif
}

/** Runs a body as several ranks; the sum of what they return. */
static inline double run_ranks(int ranks, RankBody body) {
    double result[16] = {0}, sum = 0;
    RankRun run = {ranks, {}, body, result};
    TRY(ncclGetUniqueId(&run.id));
    for_all_ranks(ranks, run_rank, &run);
    for (int rank = 0; rank < ranks; rank++) {
        sum += result[rank];
    }
    return sum;
}
