/* Lab 13: who does what, in which order, and what that takes. The contracts are in
   labs/13_pipeline/contract.h. */
#include "common/lab.h"
#include "labs/00_bytes/contract.h"
#include "labs/13_pipeline/contract.h"

static bool is_first(const PipePlan *plan) {
    return plan->stage == 0;
}

static bool is_last(const PipePlan *plan) {
    return plan->stage == plan->stages - 1;
}

ModelPart pipe_part(const ModelConfig *config, int stages, int stage) {
    CHECK(1 <= stages && stages <= config->L && 0 <= stage && stage < stages,
          "stage %d of %d, with %d blocks", stage, stages, config->L);
    ModelPart part = model_whole(config);
    TODO("task 1: its blocks, and whether it has embedding and head (4 lines)");
    return part;
}

int pipe_in_flight(const PipePlan *plan) {
    (void)plan;
    TODO("task 2: micro-batches whose backward is still to come, at most (about 2 lines)");
}

void pipe_order(const PipePlan *plan, PipeWork *work) {
    int ahead = pipe_in_flight(plan), forwards = 0, backwards = 0;
    (void)work, (void)ahead, (void)forwards, (void)backwards;
    TODO("task 2: the forwards before the first backward, then one of each in turn (8 lines)");
}

/* ---- predictions ----------------------------------------------------------------------------- */

double pipe_bubble(int stages, int micros) {
    (void)stages, (void)micros;
    TODO("task 6: the part of the time in which a stage waits (1 line)");
}

/* The activations that are alive when the first backward runs. */
static size_t activations(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    (void)config, (void)plan, (void)B, (void)T;
    TODO("task 6: what is in flight, and the backward of a block or of the head (11 lines)");
}

MemoryUse pipe_bytes(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    MemoryUse use = {{0}};
    use.bytes[MEMORY_ACTIVATIONS] = activations(config, plan, B, T);
    (void)is_first, (void)is_last;
    TODO("task 6: weights, gradients, states; tokens or targets of what is in flight (9 lines)");
    return use;
}

size_t pipe_wire(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    (void)config, (void)plan, (void)B, (void)T;
    TODO("task 6: messages to the neighbours, and half of the tied gradient (about 5 lines)");
}
