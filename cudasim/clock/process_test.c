/* A program that is recorded and reckoned in one process. */
#include <criterion/criterion.h>
#include <cuda_runtime.h>
#include <cudasim_ranks.h>
#include <cudasim_record.h>
#include <math.h>
#include <nccl.h>

#include "cudasim/clock/makespan.h"

enum { BYTES = 1 << 20 };
#define OK(call) cr_assert((call) == cudaSuccess)

static double seconds_of(size_t from) {
    Machine machine;
    Makespan result;
    CudasimRecord all = cudasim_record(), step = {all.entry + from, all.count - from};
    cr_assert(machine_load(&machine, "machines/t4.json"));
    cr_assert(makespan(&step, &machine, NULL, &result));
    return result.seconds;
}

static void expect(double got, double want) {
    cr_assert(fabs(got - want) <= 1e-9 * want, "%.12g seconds, not %.12g", got, want);
}

/* Two steps, of which one has its copy in the stream of its fill: by the rates of the T4. */
Test(makespan, a_step_is_reckoned_in_process) {
    cudaStream_t one, two;
    void *from, *to, *other;
    cudasim_record_begin();
    OK(cudaMallocHost(&from, BYTES));
    OK(cudaMalloc(&to, BYTES));
    OK(cudaMalloc(&other, BYTES));
    OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    double launch = 3e-6, copy = BYTES / 16e9, fill = BYTES / 320e9;
    for (int streams = 1; streams <= 2; streams++) {
        size_t begun = cudasim_record().count;
        OK(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyHostToDevice, one));
        OK(cudaMemsetAsync(other, 0, BYTES, streams == 1 ? one : two));
        OK(cudaDeviceSynchronize());
        cr_assert(cudasim_may_overlap(begun + 1, begun + 2) == (streams == 2));
        expect(seconds_of(begun), launch + copy + (streams == 1 ? fill : 0));
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static ncclUniqueId unique;

/* Fills before and after a collective; rank 1 has a stream beside it. */
static void before_and_after(int rank, void *context) {
    uint64_t(*id)[3] = context;
    cudaStream_t stream, other;
    ncclComm_t comm;
    float *x;
    OK(cudaMalloc((void **)&x, BYTES));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    cr_assert(ncclCommInitRank(&comm, 2, unique, rank) == ncclSuccess);
    OK(cudaMemsetAsync(x, 0, BYTES / 2, stream));
    id[rank][0] = cudasim_record().count;
    OK(cudaMemsetAsync(x + BYTES / 8, 0, BYTES / 2, other));
    id[rank][1] = cudasim_record().count;
    cr_assert(ncclAllReduce(x, x, 8, ncclFloat, ncclSum, comm, stream) == ncclSuccess);
    OK(cudaMemsetAsync(x, 0, BYTES / 2, stream));
    id[rank][2] = cudasim_record().count;
    OK(cudaDeviceSynchronize());
    cr_assert(ncclCommDestroy(comm) == ncclSuccess);
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(other));
    OK(cudaFree(x));
}

Test(makespan, a_collective_orders_ranks) {
    uint64_t id[2][3];
    cudasim_record_begin();
    cr_assert(ncclGetUniqueId(&unique) == ncclSuccess);
    cudasim_ranks_run(2, before_and_after, id);
    for (int rank = 0; rank < 2; rank++) {
        uint64_t *mine = id[rank], *theirs = id[1 - rank];
        cr_assert(cudasim_may_overlap(mine[0], theirs[0]));
        cr_assert(!cudasim_may_overlap(mine[0], theirs[2]));
        cr_assert(cudasim_may_overlap(mine[1], theirs[2]));
        cr_assert(cudasim_may_overlap(mine[2], theirs[2]));
    }
}
