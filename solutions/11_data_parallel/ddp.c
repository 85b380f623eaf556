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
#ifndef STUB
    RUN(cudaStreamCreateWithFlags(&ddp->stream, cudaStreamNonBlocking));
#else
    /* task 4: a stream of their own; until then the sums are in the default stream (1 line) */
#endif
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
#ifndef STUB
    RUN(cudaEventRecord(ddp->summed, ddp->stream));
    RUN(cudaStreamWaitEvent(0, ddp->summed, 0));
    if (ddp->model->device->host_memory) {
        RUN(cudaStreamSynchronize(ddp->stream));
    }
#else
    (void)ddp;
    TODO("task 3: the default stream waits; on the CPU the host does (about 4 lines)");
#endif
}

void ddp_broadcast(Ddp *ddp) {
#ifndef STUB
    const Model *model = ddp->model;
    size_t size = precision_bytes(model->config.precision);
    RUN(cudaEventRecord(ddp->complete, 0));
    RUN(cudaStreamWaitEvent(ddp->stream, ddp->complete, 0));
    for (int i = 0; i < model->param_count; i++) {
        Real *weight = model->params[i].weight;
        EXPECT(ncclBroadcast(weight, weight, model->params[i].count * size, ncclUint8, 0, ddp->comm,
                             ddp->stream));
    }
    wait_for_stream(ddp);
#else
    (void)ddp, (void)wait_for_stream;
    TODO("task 3: all weights from rank 0 (about 9 lines)");
#endif
}

/* ---- buckets --------------------------------------------------------------------------------- */

/* The part of the model whose backward is the last to add to a gradient. */
static int part_of(const Model *model, const Param *param) {
    bool of_head = param == &model->params[LNF_WEIGHT] || param == &model->params[LNF_BIAS];
    return param->layer < 0 && of_head ? model->config.L : param->layer;
}

/* Closes the bucket: its sums go on beside the backward of the parts below. */
static void send_bucket(Ddp *ddp) {
#ifndef STUB
    if (ddp->count == 0) {
        return;
    }
    RUN(cudaEventRecord(ddp->complete, 0));
    RUN(cudaStreamWaitEvent(ddp->stream, ddp->complete, 0));
    EXPECT(ncclGroupStart());
    for (int i = 0; i < ddp->count; i++) {
        float *grad = ddp->bucket[i]->grad;
        EXPECT(ncclAllReduce(grad, grad, ddp->bucket[i]->count, ncclFloat, ncclSum, ddp->comm,
                             ddp->stream));
    }
    EXPECT(ncclGroupEnd());
    ddp->count = 0;
    ddp->bytes = 0;
#else
    (void)ddp;
    TODO("task 3: after what has filled it, one group of all-reduces (about 12 lines)");
#endif
}

void ddp_begin(Ddp *ddp, bool last) {
    ddp->active = last;
}

void ddp_leave(void *context, int layer, bool backward) {
    Ddp *ddp = context;
#ifndef STUB
    const Model *model = ddp->model;
    if (!ddp->active || !backward) {
        return;
    }
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = model->params + i;
        if (param->grad != NULL && part_of(model, param) == layer) {
            CHECK(ddp->count < model->param_count, "part %d is left twice in a window", layer);
            ddp->bucket[ddp->count++] = param;
            ddp->bytes += param->count * sizeof(float);
        }
    }
    if (ddp->bytes >= ddp->bucket_bytes) {
        send_bucket(ddp);
    }
#else
    (void)ddp, (void)layer, (void)backward, (void)part_of, (void)send_bucket;
    TODO("task 3: the part's parameters into the bucket; send it when it is full (about 12 lines)");
#endif
}

void ddp_end(Ddp *ddp) {
#ifndef STUB
    if (ddp->active) {
        send_bucket(ddp);
        wait_for_stream(ddp);
    }
    ddp->active = false;
#else
    (void)ddp;
    TODO("task 3: the last bucket; what follows finds the sums (about 5 lines)");
#endif
}

/* ---- predictions ----------------------------------------------------------------------------- */

int ddp_buckets(const ModelConfig *config, size_t bucket_bytes) {
#ifndef STUB
    size_t C = (size_t)config->C, block = 4 * (12 * C * C + 13 * C), bytes = 8 * C;
    int buckets = 0;
    for (int layer = config->L; layer >= 0; layer--) {
        if (bytes >= bucket_bytes) {
            buckets++;
            bytes = 0;
        }
        bytes += layer > 0 ? block : 0;
    }
    return buckets + 1;
#else
    (void)config, (void)bucket_bytes;
    TODO("task 5: the head, L blocks, the embedding; each closes a bucket that is full (8 lines)");
#endif
}

double ddp_sent(const ModelConfig *config, int ranks) {
#ifndef STUB
    double C = config->C, L = config->L, R = ranks;
    double numbers = (config->V + config->T + 2) * C + L * (12 * C * C + 13 * C);
    return 2 * (R - 1) / R * 4 * numbers;
#else
    (void)config, (void)ranks;
    TODO("task 5: 2 (R - 1) / R of all gradients (about 3 lines)");
#endif
}

double ddp_time(int buckets, const double *complete, const double *reduce) {
#ifndef STUB
    double end = 0;
    for (int i = 0; i < buckets; i++) {
        end = (complete[i] > end ? complete[i] : end) + reduce[i];
    }
    return end;
#else
    (void)buckets, (void)complete, (void)reduce;
    TODO("task 5: each begins when it can, and ends when it is through (about 4 lines)");
#endif
}
