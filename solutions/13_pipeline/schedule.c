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
#ifndef STUB
    part.first = stage * config->L / stages;
    part.last = (stage + 1) * config->L / stages;
    part.embedding = stage == 0;
    part.head = stage == stages - 1;
#else
    TODO("task 1: its blocks, and whether it has embedding and head (4 lines)");
#endif
    return part;
}

int pipe_in_flight(const PipePlan *plan) {
#ifndef STUB
    int ahead = plan->stages - plan->stage;
    return plan->order == PIPE_GPIPE || plan->micros < ahead ? plan->micros : ahead;
#else
    (void)plan;
    TODO("task 2: micro-batches whose backward is still to come, at most (about 2 lines)");
#endif
}

void pipe_order(const PipePlan *plan, PipeWork *work) {
    int ahead = pipe_in_flight(plan), forwards = 0, backwards = 0;
#ifndef STUB
    while (forwards < ahead) {
        *work++ = (PipeWork){.micro = forwards++};
    }
    while (backwards < plan->micros) {
        *work++ = (PipeWork){.micro = backwards++, .backward = true};
        if (forwards < plan->micros) {
            *work++ = (PipeWork){.micro = forwards++};
        }
    }
#else
    (void)work, (void)ahead, (void)forwards, (void)backwards;
    TODO("task 2: the forwards before the first backward, then one of each in turn (8 lines)");
#endif
}

/* ---- predictions ----------------------------------------------------------------------------- */

double pipe_bubble(int stages, int micros) {
#ifndef STUB
    return (double)(stages - 1) / (micros + stages - 1);
#else
    (void)stages, (void)micros;
    TODO("task 6: the part of the time in which a stage waits (1 line)");
#endif
}

#ifndef STUB
/* Numbers in the parameters of a stage. */
static size_t elements_of(const ModelConfig *config, const PipePlan *plan) {
    ModelPart part = pipe_part(config, plan->stages, plan->stage);
    size_t V = (size_t)config->V, T = (size_t)config->T, C = (size_t)config->C;
    size_t elements = (size_t)(part.last - part.first) * (12 * C * C + 13 * C);
    elements += part.embedding ? V * C + T * C : 0;
    elements += part.head ? 2 * C : 0;
    elements += part.head && !part.embedding ? V * C : 0; /* a second copy of the tied weight */
    return elements;
}

#endif
/* The activations that are alive when the first backward runs. */
static size_t activations(const ModelConfig *config, const PipePlan *plan, int B, int T) {
#ifndef STUB
    ModelPart part = pipe_part(config, plan->stages, plan->stage);
    size_t N = (size_t)B * (size_t)T, number = precision_bytes(config->precision);
    size_t stream = N * (size_t)config->C * number;
    size_t row = (size_t)logits_stride(config->V) * number;
    size_t head = part.head ? stream + N * (row + 4 * sizeof(float)) : 0;
    size_t blocks = (size_t)(part.last - part.first) * (stream + bytes_block(config, B, T));
    size_t in_flight = (size_t)pipe_in_flight(plan) * (2 * stream + blocks + head);
    /* the head's backward takes a tensor more; when it is through, what the head kept is gone */
    size_t with_head = part.head ? stream : 0, with_block = 5 * stream;
    return in_flight + (with_block > head + with_head ? with_block - head : with_head);
#else
    (void)config, (void)plan, (void)B, (void)T;
    TODO("task 6: what is in flight, and the backward of a block or of the head (11 lines)");
#endif
}

MemoryUse pipe_bytes(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    MemoryUse use = {{0}};
    use.bytes[MEMORY_ACTIVATIONS] = activations(config, plan, B, T);
#ifndef STUB
    size_t P = elements_of(config, plan), floats = config->precision == F32 ? 2 : 3;
    size_t ids = (size_t)is_first(plan) + (size_t)is_last(plan);
    use.bytes[MEMORY_WEIGHTS] = P * precision_bytes(config->precision);
    use.bytes[MEMORY_GRADIENTS] = P * sizeof(float);
    use.bytes[MEMORY_OPTIMIZER] = P * floats * sizeof(float);
    use.bytes[MEMORY_DATA] =
        (size_t)pipe_in_flight(plan) * ids * (size_t)B * (size_t)T * sizeof(int32_t);
#else
    (void)is_first, (void)is_last;
    TODO("task 6: weights, gradients, states; tokens or targets of what is in flight (9 lines)");
#endif
    return use;
}

size_t pipe_wire(const ModelConfig *config, const PipePlan *plan, int B, int T) {
#ifndef STUB
    size_t C = (size_t)config->C, V = (size_t)config->V, m = (size_t)plan->micros;
    size_t message = (size_t)B * (size_t)T * C * precision_bytes(config->precision);
    size_t neighbours = (size_t)!is_first(plan) + (size_t)!is_last(plan);
    bool end = plan->stages > 1 && (is_first(plan) || is_last(plan));
    return neighbours * m * message + (end ? V * C * sizeof(float) : 0);
#else
    (void)config, (void)plan, (void)B, (void)T;
    TODO("task 6: messages to the neighbours, and half of the tied gradient (about 5 lines)");
#endif
}
