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
    (void)pipe;
    TODO("task 5: both halves of the tied gradient become their sum (about 6 lines)");
}

/* The gradients that this stage counts; a list of its own lies on top of the stack. */
static TensorList counted(const Pipe *pipe) {
    const Model *model = pipe->model;
    TensorList list = model->grads;
    /* task 5: without the tied gradient where it is counted elsewhere: model_list() (11 lines) */
    return list;
}

float tie_norm(Pipe *pipe) {
    const Model *model = pipe->model;
    MemoryMark mark = memory_mark(model->memory);
    float sum = 0;
    TensorList list = counted(pipe);
    device_fill(model->device, model->result, 0, sizeof sum);
    model->ops->sumsq(model->result, list, &model->workspace);
    (void)settle;
    TODO("task 5: the sum over all stages (about 4 lines)");
    device_download(model->device, &sum, model->result, sizeof sum);
    memory_release(model->memory, mark);
    return sqrtf(sum);
}
