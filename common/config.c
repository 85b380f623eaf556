/* Which shapes a model may have. The contract is in config.h. */
#include "common/config.h"

#include <stdio.h>

/* Far beyond any model that fits in memory, yet all counts of elements stay below 2^63. */
enum { LARGEST = 1 << 24, MOST_LAYERS = 1 << 12, MOST_RANK = 1 << 16 };

static int wrong(char *error, const char *name, int value, const char *why) {
    snprintf(error, ERROR_BYTES, "%s = %d: %s", name, value, why);
    return -1;
}

int config_check(const ModelConfig *config, char *error) {
    if (config->V < 256 || config->V > LARGEST) {
        return wrong(error, "vocab_size", config->V, "must be 256 to 16777216 (bytes are the ids)");
    }
    if (config->T < 1 || config->T > LARGEST) {
        return wrong(error, "n_positions", config->T, "must be 1 to 16777216");
    }
    if (config->L < 1 || config->L > MOST_LAYERS) {
        return wrong(error, "n_layer", config->L, "must be 1 to 4096");
    }
    if (config->C < 1 || config->C > LARGEST) {
        return wrong(error, "n_embd", config->C, "must be 1 to 16777216");
    }
    if (config->NH < 1 || config->C % config->NH != 0) {
        return wrong(error, "n_head", config->NH, "must divide n_embd");
    }
    if (!(config->dropout >= 0 && config->dropout < 1)) {
        snprintf(error, ERROR_BYTES, "dropout = %g: must be in [0, 1)", (double)config->dropout);
        return -1;
    }
    return 0;
}

int adapter_check(const Adapter *adapter, char *error) {
    if (adapter->rank == 0) {
        return 0;
    }
    if (adapter->rank < 0 || adapter->rank > MOST_RANK) {
        return wrong(error, "lora_r", adapter->rank, "must be 1 to 65536");
    }
    if (adapter->targets == 0 || adapter->targets >= 1u << BLOCK_LINEARS) {
        return wrong(error, "targets", (int)adapter->targets, "no layer of a block, or none");
    }
    if (!(adapter->alpha > 0 && adapter->alpha <= LARGEST)) {
        snprintf(error, ERROR_BYTES, "lora_alpha = %g: must be above 0, at most 16777216",
                 (double)adapter->alpha);
        return -1;
    }
    if (!(adapter->dropout >= 0 && adapter->dropout < 1)) {
        snprintf(error, ERROR_BYTES, "lora_dropout = %g: must be in [0, 1)",
                 (double)adapter->dropout);
        return -1;
    }
    return 0;
}
