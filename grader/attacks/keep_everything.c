/* Attack 54. Runs a plain step and calls it checkpointed. */
/* lab: 04_checkpoint/checkpoint.c  honest: none */
/* state: over budget | fail */
#include "common/lab04.h"

size_t checkpoint_bytes(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    (void)config, (void)B, (void)T, (void)checkpoint;
    return 0;
}

int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget) {
    (void)config, (void)B, (void)T, (void)budget;
    return 1;
}

double checkpoint_forward(Model *model, const Batch *batch) {
    return model_forward(model, batch);
}

void checkpoint_backward(Model *model, float dloss) {
    model_backward(model, dloss);
}
