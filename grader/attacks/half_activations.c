/* Attack 51. Keeps everything, in numbers of half the size. */
/* lab: 04_checkpoint/checkpoint.c  honest: none */
/* state: over budget | fail | crashed */
#include "common/lab04.h"

size_t checkpoint_bytes(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    (void)config, (void)B, (void)T, (void)checkpoint;
    return 0;
}

int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget) {
    (void)config, (void)B, (void)T, (void)budget;
    return 1;
}

static void set_precision(Model *model, Precision precision) {
    model->config.precision = precision;
    model->ops = &model->device->ops[precision];
}

double checkpoint_forward(Model *model, const Batch *batch) {
    set_precision(model, F16);
    return model_forward(model, batch);
}

void checkpoint_backward(Model *model, float dloss) {
    model_backward(model, dloss);
    set_precision(model, F32);
}
