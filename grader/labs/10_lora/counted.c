#include "grader/labs/10_lora/counted.h"

#include <stdlib.h>
#include <string.h>

#include "common/linear.h"
#include "common/optimizer.h"
#include "grader/judge_kit.h"
#include "grader/labs/10_lora/protocol.h"

unsigned counted_dropped(const ModelConfig *config) {
    unsigned all = (1u << BLOCK_LINEARS) - 1, read = config->adapter.targets;
    if (config->attention == ATTENTION_FLASH) {
        read |= 1u << LINEAR_PROJ;
    }
    return all & ~read;
}

static size_t numbers_of(const ModelConfig *config, bool adapters) {
    int count = adapters ? adapters_count(config) : params_count(config);
    Param *params = calloc((size_t)count + 1, sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", count);
    if (adapters) {
        adapters_describe(params, config);
    } else {
        params_describe(params, config);
    }
    size_t numbers = protocol_numbers(params, count);
    free(params);
    return numbers;
}

MemoryUse counted_states(const ModelConfig *config) {
    size_t base = numbers_of(config, false), trained = numbers_of(config, true);
    MemoryUse use = {0};
    use.bytes[MEMORY_WEIGHTS] = (base + trained) * precision_bytes(config->precision);
    use.bytes[MEMORY_GRADIENTS] = 4 * trained;
    use.bytes[MEMORY_OPTIMIZER] = (config->precision == F32 ? 8 : 12) * trained;
    return use;
}

/* ---- activations ----------------------------------------------------------------------------- */

/* A layer with an adapter takes the scratch that the contract says, and computes nothing. */
static void take(const Linear *linear, size_t thin, size_t wide) {
    const Pass *pass = linear->pass;
    const Adapter *adapter = &pass->model->config.adapter;
    size_t number = precision_bytes(pass->model->config.precision), N = (size_t)linear->N;
    size_t in = adapter->dropout > 0 && pass->train ? (size_t)linear->IC : 0;
    MemoryMark mark = memory_mark(pass->memory);
    memory_alloc(pass->memory, MEMORY_ACTIVATIONS, "scratch", -1,
                 N * number * (in + thin * (size_t)adapter->rank + wide));
    memory_release(pass->memory, mark);
}

static void scratch_forward(Linear *linear, Real *out, const Real *in) {
    linear_base_forward(linear, out, in);
    take(linear, 1, (size_t)linear->OC);
}

static void scratch_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    linear_base_backward(linear, din, dout, in);
    take(linear, 2, 0);
}

static MemoryUse counted_peak(const ModelConfig *config, int B, int T, unsigned dropped,
                              bool optimizer) {
    int32_t *ids = calloc((size_t)B * (size_t)T, sizeof *ids);
    Batch batch = {.B = B, .T = T, .tokens = ids, .targets = ids, .valid = B * T};
    CHECK(ids != NULL, "no memory for %d tokens", B * T);
    Model *model = judge_model_count(judge_device(1), config);
    Optimizer *states = optimizer ? optimizer_new(model, (AdamW){0}) : NULL;
    model->linear_forward = scratch_forward;
    model->linear_backward = scratch_backward;
    model->dropped = dropped;
    model_forward(model, &batch);
    model_backward(model, 0);
    MemoryUse use = memory_peak(model->memory);
    optimizer_free(states);
    judge_model_close(model);
    free(ids);
    return use;
}

static size_t one_sequence(ModelConfig config, int L, int T, unsigned dropped) {
    config.L = L;
    return counted_peak(&config, 1, T, dropped, false).bytes[MEMORY_ACTIVATIONS];
}

/* Numbers of a token that a block's backward takes: in units of C those that lie below each of its
   layers, and that layer's scratch. */
static size_t backward_numbers(const ModelConfig *config) {
    static const size_t below[BLOCK_LINEARS] = {4, 5, 5, 5}, inputs[BLOCK_LINEARS] = {1, 1, 1, 4};
    size_t most = 5 * (size_t)config->C;
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        size_t numbers = below[id] * (size_t)config->C + 2 * (size_t)config->adapter.rank;
        numbers += config->adapter.dropout > 0 ? inputs[id] * (size_t)config->C : 0;
        if (config->adapter.targets >> id & 1 && numbers > most) {
            most = numbers;
        }
    }
    return most;
}

/* As grader/judge_peak.c has it of a plain model: one block more adds what a block keeps. Each
   number of an activation belongs to one of the sequences. */
size_t counted_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint,
                           unsigned dropped) {
    size_t number = precision_bytes(config->precision), N = (size_t)T;
    size_t output = N * (size_t)config->C * number;
    size_t one = one_sequence(*config, 1, T, dropped);
    size_t kept = one_sequence(*config, 2, T, dropped) - one, above = one - kept;
    size_t backward = 2 * output + N * backward_numbers(config) * number;
    int S = checkpoint.segment > 0 ? checkpoint.segment : config->L;
    int before = (config->L - 1) / S; /* segments before the last */
    CHECK(above >= backward, "what is counted is not what is worked out");
    if (checkpoint.attention_only && config->attention == ATTENTION_PLAIN) {
        size_t probs = N * (size_t)config->NH * (size_t)T * number;
        size_t head = 4 * output + N * ((size_t)logits_stride(config->V) * number + 16);
        kept -= probs;
        backward += probs;
        above = head > backward ? head : backward;
    }
    size_t at_last = (size_t)before * output + (size_t)(config->L - before * S) * kept + above;
    size_t at_full = before > 0 ? (size_t)(before - 1) * output + (size_t)S * kept + backward : 0;
    return (size_t)B * (at_full > at_last ? at_full : at_last);
}

size_t counted_step(const ModelConfig *config, int B, int T, unsigned dropped, bool gpu) {
    MemoryUse use = counted_peak(config, B, T, dropped, true);
    if (gpu) {
        use.bytes[MEMORY_WORKSPACE] = judge_gpu_workspace(config);
    }
    return memory_total(&use);
}
