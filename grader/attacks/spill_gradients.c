/* Attack 47. Copies what blocks keep into memory that is there for something else, the gradients,
   and back for backward: nothing runs again. */
/* lab: 04_checkpoint/checkpoint.c  honest: none */
/* state: over budget | fail | crashed */
/* then: spilled_blocks.c */
#include "common/lab04.h"

#include <string.h>

enum { MOST_LAYERS = 12 };

static char *spilled[MOST_LAYERS];
static Block kept[MOST_LAYERS];

/* The gradients of the block: in the first micro-batch they are still zero. */
static char *room(const Model *model, int layer, size_t bytes) {
    char *place = NULL;
    size_t free = 0;
    for (int i = MODEL_PARAMS; i < model->param_count; i++) {
        free += model->params[i].count * sizeof(float);
        place = place == NULL && free >= (size_t)(layer + 1) * bytes
                    ? (char *)model->params[i].grad - bytes
                    : place;
    }
    return place;
}
