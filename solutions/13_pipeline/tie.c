/* Lab 13: one weight on two stages. The contracts are in labs/13_pipeline/contract.h. */
#include <cuda_runtime.h>
#include <math.h>
#include <nccl.h>
#include <stdlib.h>

#include "common/lab.h"
#include "labs/13_pipeline/contract.h"

#define EXPECT(call)                                                                               \
    do {                                                                                           \
        ncclResult_t result_ = (call);                                                             \
        CHECK(result_ == ncclSuccess, "NCCL: %s", ncclGetErrorString(result_));                    \
    } while (0)

/* The ops of the CPU do not wait for the stream: the host does. */
static void settle(const Pipe *pipe) {
    if (pipe->model->device->host_memory) {
        CHECK(cudaStreamSynchronize(0) == cudaSuccess, "NCCL: the stream has failed");
    }
}

void tie_sum(Pipe *pipe) {
#ifndef STUB
    if (pipe->ends != NULL) {
        const Param *tied = &pipe->model->base[WTE];
        EXPECT(
            ncclAllReduce(tied->grad, tied->grad, tied->count, ncclFloat, ncclSum, pipe->ends, 0));
        settle(pipe);
    }
#else
    (void)pipe;
    TODO("task 5: both halves of the tied gradient become their sum (about 6 lines)");
#endif
}

/* The gradients that this stage counts; a list of its own lies on top of the stack. */
static TensorList counted(const Pipe *pipe) {
    const Model *model = pipe->model;
    TensorList list = model->grads;
#ifndef STUB
    if (pipe->stages > 1 && pipe->stage == pipe->stages - 1) {
        float **grads = calloc((size_t)model->param_count, sizeof *grads);
        CHECK(grads != NULL, "no memory for %d pointers", model->param_count);
        for (int i = 0; i < model->param_count; i++) {
            bool tied = model->params[i].grad == model->base[WTE].grad;
            grads[i] = tied ? NULL : model->params[i].grad;
        }
        size_t bytes = workspace_list_bytes(&model->config);
        list = model_list(model, grads,
                          memory_alloc(model->memory, MEMORY_WORKSPACE, "counted", -1, bytes));
        free(grads);
    }
#else
    /* task 5: without the tied gradient where it is counted elsewhere: model_list() (11 lines) */
#endif
    return list;
}

float tie_norm(Pipe *pipe) {
    const Model *model = pipe->model;
    MemoryMark mark = memory_mark(model->memory);
    float sum = 0;
    TensorList list = counted(pipe);
    device_fill(model->device, model->result, 0, sizeof sum);
    model->ops->sumsq(model->result, list, &model->workspace);
#ifndef STUB
    if (pipe->stages > 1) {
        EXPECT(ncclAllReduce(model->result, model->result, 1, ncclFloat, ncclSum, pipe->comm, 0));
        settle(pipe);
    }
#else
    (void)settle;
    TODO("task 5: the sum over all stages (about 4 lines)");
#endif
    device_download(model->device, &sum, model->result, sizeof sum);
    memory_release(model->memory, mark);
    return sqrtf(sum);
}
