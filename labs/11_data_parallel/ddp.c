/* Lab 11: gradients that are summed over ranks while backward runs. The contracts are in
   labs/11_data_parallel/contract.h. */
#include <cuda_runtime.h>
#include <stdlib.h>

#include "common/lab.h"
#include "common/params.h"
#include "labs/11_data_parallel/contract.h"

struct Ddp {
    Model *model;
    ncclComm_t comm;
    size_t bucket_bytes;
    cudaStream_t stream;  /* of the sums */
    cudaEvent_t complete; /* in the default stream: the bucket's gradients are there */
    cudaEvent_t summed;   /* in the other one: its sums are */
    bool active;          /* in the backward of a window's last micro-batch */
    const Param **bucket; /* (count) parameters that are waiting */
    int count;
    size_t bytes; /* of their gradients */
};

#define EXPECT(call) CHECK((call) == ncclSuccess, "NCCL: %s", ncclGetLastError(NULL))
#define RUN(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))

Ddp *ddp_open(Model *model, ncclComm_t comm, size_t bucket_bytes) {
    Ddp *ddp = calloc(1, sizeof *ddp);
    CHECK(ddp != NULL, "no host memory for a few bytes");
    *ddp = (Ddp){.model = model, .comm = comm, .bucket_bytes = bucket_bytes};
    ddp->bucket = calloc((size_t)model->param_count, sizeof *ddp->bucket);
    CHECK(ddp->bucket != NULL, "no host memory for %d parameters", model->param_count);
    RUN(cudaEventCreateWithFlags(&ddp->complete, cudaEventDisableTiming));
    RUN(cudaEventCreateWithFlags(&ddp->summed, cudaEventDisableTiming));
    /* task 4: a stream of their own; until then the sums are in the default stream (1 line) */
    return ddp;
}

void ddp_close(Ddp *ddp) {
    if (ddp == NULL) {
        return;
    }
    RUN(cudaStreamSynchronize(ddp->stream));
    if (ddp->stream != NULL) {
        RUN(cudaStreamDestroy(ddp->stream));
    }
    RUN(cudaEventDestroy(ddp->complete));
    RUN(cudaEventDestroy(ddp->summed));
    free(ddp->bucket);
    free(ddp);
}

/* Ops that follow come after all that the stream has. */
static void wait_for_stream(Ddp *ddp) {
    (void)ddp;
    TODO("task 3: the default stream waits; on the CPU the host does (about 4 lines)");
}

void ddp_broadcast(Ddp *ddp) {
    (void)ddp, (void)wait_for_stream;
    TODO("task 3: all weights from rank 0 (about 9 lines)");
}

/* ---- buckets --------------------------------------------------------------------------------- */

/* The part of the model whose backward is the last to add to a gradient. */
static int part_of(const Model *model, const Param *param) {
    bool of_head = param == &model->params[LNF_WEIGHT] || param == &model->params[LNF_BIAS];
    return param->layer < 0 && of_head ? model->config.L : param->layer;
}

/* Closes the bucket: its sums go on beside the backward of the parts below. */
static void send_bucket(Ddp *ddp) {
    (void)ddp;
    TODO("task 3: after what has filled it, one group of all-reduces (about 12 lines)");
}

void ddp_begin(Ddp *ddp, bool last) {
    ddp->active = last;
}

void ddp_leave(void *context, int layer, bool backward) {
    Ddp *ddp = context;
    (void)ddp, (void)layer, (void)backward, (void)part_of, (void)send_bucket;
    TODO("task 3: the part's parameters into the bucket; send it when it is full (about 12 lines)");
}

void ddp_end(Ddp *ddp) {
    (void)ddp;
    TODO("task 3: the last bucket; what follows finds the sums (about 5 lines)");
}

/* ---- predictions ----------------------------------------------------------------------------- */

int ddp_buckets(const ModelConfig *config, size_t bucket_bytes) {
    (void)config, (void)bucket_bytes;
    TODO("task 5: the head, L blocks, the embedding; each closes a bucket that is full (8 lines)");
}

double ddp_sent(const ModelConfig *config, int ranks) {
    (void)config, (void)ranks;
    TODO("task 5: 2 (R - 1) / R of all gradients (about 3 lines)");
}

double ddp_time(int buckets, const double *complete, const double *reduce) {
    (void)buckets, (void)complete, (void)reduce;
    TODO("task 5: each begins when it can, and ends when it is through (about 4 lines)");
}
