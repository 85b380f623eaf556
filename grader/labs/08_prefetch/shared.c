#include "grader/labs/08_prefetch/shared.h"

#include <string.h>

#include "common/optimizer.h"
#include "grader/picture.h"
#include "grader/probe.h"

/* Loss (as bits), place in the dropout stream, and bytes of activations at the peak. */
static void passes_tell(Wire *out, const Model *model, int i, double loss) {
    memcpy((uint64_t *)wire_get(out, "loss", WIRE_U64, NULL) + i, &loss, sizeof loss);
    ((uint64_t *)wire_get(out, "stream", WIRE_U64, NULL))[i] = model->rng.offset;
    ((uint64_t *)wire_get(out, "peak", WIRE_U64, NULL))[i] =
        memory_peak(model->memory).bytes[MEMORY_ACTIVATIONS];
}

void offload_passes(const Wire *in, Wire *out, const PassesBy *by) {
    const int32_t *options = wire_get(in, "options", WIRE_I32, NULL);
    float share = *(const float *)wire_get(in, "share", WIRE_F32, NULL);
    ModelConfig config = probe_config(in);
    Memory *memory = memory_new(by->device, (MemoryOptions){.budget = by->budget});
    Model *model =
        model_new(&config, memory, *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL));
    model->rng.offset = DROPOUT_DRAWN;
    model->checkpoint.segment = options[PASS_SEGMENT];
    for (int i = 0; i < options[PASS_PASSES]; i++) {
        Batch batch = given_batch(in, i);
        memory_peak_reset(memory);
        memory_record(memory, i == 0);
        double loss = by->forward(model, &batch);
        by->backward(model, share);
        passes_tell(out, model, i, loss);
        if (i == 0) {
            picture_give(memory, wire_get(out, "memory", WIRE_U64, NULL));
            memory_record(memory, false);
        }
        if ((i + 1) % options[PASS_WINDOW] == 0) {
            hand_back_gradients(out, model, NAME_GRADIENT, "step", i / options[PASS_WINDOW]);
            model_scale_grad(model, 0);
        }
    }
    memory_free(memory);
}
