/* Lab 09 in a run. The contract is in fused.h. */
#include "train/fused.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/crossentropy.h"
#include "labs/00_bytes/contract.h"
#include "labs/04_checkpoint/contract.h"

void fused_set(Model *model, bool norm, bool head) {
    model->fused_norm = norm;
    model->head_forward = head ? head_forward : NULL;
    model->head_backward = head ? head_backward : NULL;
}

/* The formula's activations with another vocabulary. */
static size_t with_vocabulary(ModelConfig config, int V, int B, int T, Checkpoint checkpoint) {
    bool again = checkpoint.segment > 0 || checkpoint.attention_only;
    config.V = V;
    return again ? checkpoint_bytes(&config, B, T, checkpoint) : bytes_activations(&config, B, T);
}

size_t fused_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    enum { LARGE = 1 << 24 };
    size_t N = (size_t)B * (size_t)T, number = precision_bytes(config->precision);
    size_t rows = (size_t)head_chunk_rows(B * T, config->C, config->V);
    size_t chunk = rows * (size_t)logits_stride(config->V) * number;
    /* peak = max(others + logits, blocks), where only the logits depend on V */
    size_t others = with_vocabulary(*config, LARGE, B, T, checkpoint) -
                    N * (size_t)logits_stride(LARGE) * number;
    size_t least = with_vocabulary(*config, 0, B, T, checkpoint);
    return others + chunk > least ? others + chunk : least;
}

/* A micro-batch whose ids stay after the next one was handed out. */
static void keep(Batch *to, const Batch *from) {
    size_t bytes = (size_t)from->B * (size_t)from->T * sizeof(int32_t);
    int32_t *ids = malloc(2 * bytes);
    CHECK(ids != NULL, "no host memory for %zu bytes", 2 * bytes);
    memcpy(ids, from->tokens, bytes);
    memcpy((char *)ids + bytes, from->targets, bytes);
    *to = *from;
    to->tokens = ids;
    to->targets = (const int32_t *)((char *)ids + bytes);
}

void graph_epoch(Graphed *graph, Data *data, int micros,
                 bool (*report)(void *context, const StepReport *step), void *context) {
    Batch *window = calloc((size_t)micros, sizeof *window), batch;
    CHECK(window != NULL, "no host memory for %d micro-batches", micros);
    bool more = true;
    while (more && data_batches_left(data) > 0) {
        int count = 0;
        while (count < micros && data_next(data, &batch)) {
            keep(&window[count++], &batch);
        }
        StepReport step = step_graph_run(graph, window, count);
        for (int i = 0; i < count; i++) {
            free((void *)window[i].tokens);
        }
        more = report(context, &step);
    }
    free(window);
}
