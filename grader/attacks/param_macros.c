/* Attack 33. Adds up the parameters by the macros that make the kit's own list of them. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: others.c */
#include "labs/00_bytes/contract.h"

#include "common/params.h"

#define ADD(id, name, rows, cols, init) +(size_t)(rows) * (size_t)(cols)

size_t bytes_params(const ModelConfig *config) {
    size_t V = (size_t)config->V, T = (size_t)config->T, C = (size_t)config->C;
    return 0 EACH_MODEL_PARAM(ADD) + (size_t)config->L * (0 EACH_BLOCK_PARAM(ADD));
}
