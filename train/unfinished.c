/* Predictions with holes in them. The contract is in unfinished.h. */
#include "train/unfinished.h"

#include <stdio.h>
#include <stdlib.h>

#include "labs/00_bytes/contract.h"
#include "train/attempt.h"

_Static_assert(MEMORY_ACTIVATIONS == MEMORY_OPTIMIZER + 1, "those that stay come first");

/* Of which step the bytes are asked for. */
typedef struct Asked {
    const ModelConfig *config;
    int B, T;
    const Device *device;
} Asked;

static void states(void *context, void *result) {
    const Asked *q = context;
    *(MemoryUse *)result = bytes_states(q->config);
}

static void activations(void *context, void *result) {
    const Asked *q = context;
    MemoryUse *use = result;
    *use = bytes_states(q->config);
    use->bytes[MEMORY_ACTIVATIONS] = bytes_activations(q->config, q->B, q->T);
}

static void everything(void *context, void *result) {
    const Asked *q = context;
    *(MemoryUse *)result = bytes_predict(q->config, q->B, q->T, q->device);
}

/* In the order of the tasks, with the kinds that are known then, from the first one on. */
static const struct {
    void (*ask)(void *context, void *result);
    int known;
} formulas[] = {{states, MEMORY_ACTIVATIONS},
                {activations, MEMORY_ACTIVATIONS + 1},
                {everything, MEMORY_KINDS}};

/* Returns how many kinds are known. */
static int predict(Asked asked, MemoryUse *predicted) {
    int known = 0;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        MemoryUse use;
        Attempt made = attempt(formulas[i].ask, &asked, &use, sizeof use);
        if (made.status != 0) {
            exit(made.status); /* it has said why */
        }
        if (!made.done) {
            break;
        }
        *predicted = use;
        known = formulas[i].known;
    }
    return known;
}

void unfinished_show(const ModelConfig *config, int B, int T, const Device *device,
                     const MemoryUse *counted) {
    MemoryUse predicted;
    int known = predict((Asked){config, B, T, device}, &predicted);
    if (known == 0 || known == MEMORY_KINDS) {
        return;
    }
    printf("So far                counted        predicted (bytes)\n");
    for (int kind = 0; kind < known; kind++) {
        size_t bytes = predicted.bytes[kind];
        printf("  %-12s %16zu %16zu%s\n", memory_kind_name((MemoryKind)kind), counted->bytes[kind],
               bytes, bytes == counted->bytes[kind] ? "" : "  differs");
    }
}
