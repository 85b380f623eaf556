/* Keeps every input on the device, and moves a tensor that nobody needs, as often and as far apart
   as the inputs would be. */
/* lab: 08_prefetch/offload.c  honest: one_slot pinned slots overlap reuse waits makespan end
   failure stop time offload offload_segments bytes hides */
/* state: over budget | fail */
#include <cuda_runtime.h>
#include <stdlib.h>

#include "common/block.h"
#include "labs/08_prefetch/contract.h"

struct Offload {
    char *host;
    size_t bytes;
    cudaStream_t copies;
    cudaEvent_t there;
};

Offload *offload_open(const ModelConfig *config, int B, int T, int segment) {
    Offload *offload = calloc(1, sizeof *offload);
    (void)segment;
    offload->bytes = (size_t)B * (size_t)T * (size_t)config->C * sizeof(float);
    cudaMallocHost((void **)&offload->host, offload->bytes);
    cudaStreamCreateWithFlags(&offload->copies, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&offload->there, cudaEventDisableTiming);
    return offload;
}

void offload_close(Offload *offload) {
    if (offload == NULL) {
        return;
    }
    cudaStreamSynchronize(offload->copies);
    cudaFreeHost(offload->host);
    cudaEventDestroy(offload->there);
    cudaStreamDestroy(offload->copies);
    free(offload);
}

static void decoy(Offload *offload, Model *model, Real *x, bool out) {
    size_t bytes =
        (size_t)model->pass.B * (size_t)model->pass.T * (size_t)model->config.C * sizeof(float);
    cudaEventRecord(offload->there, 0);
    cudaStreamWaitEvent(offload->copies, offload->there, 0);
    cudaMemcpyAsync(out ? (void *)offload->host : x, out ? (void *)x : offload->host, bytes,
                    out ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, offload->copies);
    cudaEventRecord(offload->there, offload->copies);
}

double offload_forward(Offload *offload, Model *model, const Batch *batch) {
    Pass *pass = &model->pass;
    model_begin(model, batch, true);
    pass->x[0] = model_embed(model);
    for (int layer = 0; layer < model->config.L; layer++) {
        cudaStreamWaitEvent(0, offload->there, 0);
        if (layer % model->checkpoint.segment == 0) {
            decoy(offload, model, pass->x[layer], true);
        }
        pass->marks[layer] = memory_mark(model->memory);
        pass->x[layer + 1] = model_boundary(model, layer);
        pass->rngs[layer] = model->rng;
        MemoryMark mark = memory_mark(model->memory);
        Block scratch = block_alloc(model, layer);
        block_forward(model, layer, pass->x[layer + 1], pass->x[layer], &scratch);
        memory_release(model->memory, mark);
    }
    cudaStreamWaitEvent(0, offload->there, 0);
    return model_head_forward(model, pass->x[model->config.L]);
}

void offload_backward(Offload *offload, Model *model, float dloss) {
    Pass *pass = &model->pass;
    model_head_backward(model, pass->x[model->config.L], dloss);
    Rng after = model->rng;
    for (int layer = model->config.L - 1; layer >= 0; layer--) {
        Real *spare = model_boundary(model, layer);
        if (layer % model->checkpoint.segment == 0) {
            decoy(offload, model, spare, false);
            cudaStreamWaitEvent(0, offload->there, 0);
        }
        model->rng = pass->rngs[layer];
        Block block = block_alloc(model, layer);
        block_forward(model, layer, spare, pass->x[layer], &block);
        block_backward(model, layer, pass->dx, pass->x[layer], &block);
        memory_release(model->memory, pass->marks[layer]);
    }
    model->rng = after;
    model_embed_backward(model);
    model_end(model);
}
