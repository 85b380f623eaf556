/* Lab 10: the tensors that stay, and the bytes of all. The contracts are
   in labs/10_lora/contract.h. */
#include "common/lab.h"
#include "labs/00_bytes/contract.h"
#include "labs/10_lora/contract.h"

static bool is_target(const ModelConfig *config, LinearId id) {
    return config->adapter.targets >> id & 1;
}

unsigned lora_dropped(const ModelConfig *config) {
    (void)config, (void)is_target;
    TODO("task 6: the layers whose input nobody reads again (about 7 lines)");
}

/* Inputs and outputs of a linear layer. */
static size_t width_in(const ModelConfig *config, LinearId id) {
    return (size_t)config->C * (id == LINEAR_FCPROJ ? 4 : 1);
}

static size_t width_out(const ModelConfig *config, LinearId id) {
    return (size_t)config->C * (id == LINEAR_QKV ? 3 : id == LINEAR_FC ? 4 : 1);
}

/* Numbers in all adapters. */
static size_t trained(const ModelConfig *config) {
    (void)config, (void)width_in, (void)width_out;
    TODO("task 3: the numbers that are trained (about 7 lines)");
}

MemoryUse lora_states(const ModelConfig *config) {
    MemoryUse use = {0};
    size_t numbers = trained(config);
    (void)numbers, (void)use;
    TODO("task 3: weights, gradients, states (about 5 lines)");
}

/* Bytes per token of the inputs that are not kept, and numbers per token that a block's backward
   takes at most: beside the gradients that lie below it, each linear layer has the scratch of its
   adapter.

       static size_t dropped_bytes(const ModelConfig *config);
       static size_t backward_width(const ModelConfig *config);
 */

size_t lora_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    (void)config, (void)B, (void)T, (void)checkpoint;
    TODO("task 6: the most activation bytes at any one time (about 40 lines, with its parts)");
}
