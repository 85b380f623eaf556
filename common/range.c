/* Blocks of a pass as a model. The contract is in range.h. */
#include "common/range.h"

#include <stdlib.h>
#include <string.h>

/* Those of the blocks. Of embedding and head there are names and shapes alone. */
static Param *params_of_range(const Model *model, int first, int count) {
    Param *params = calloc((size_t)count, sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", count);
    for (int i = 0; i < MODEL_PARAMS; i++) {
        params[i] = model->base[i];
        params[i].weight = NULL;
        params[i].grad = NULL;
    }
    memcpy(params + MODEL_PARAMS, model_block_params(model, first),
           (size_t)(count - MODEL_PARAMS) * sizeof *params);
    return params;
}

Model *range_open(const Pass *pass, int first, int last, Real *x) {
    const Model *model = pass->model;
    Model *range = malloc(sizeof *range);
    CHECK(range != NULL, "no memory for a range of blocks");
    *range = *model;
    range->config.L = last - first;
    range->memory = pass->memory;
    range->base_count = range->param_count = MODEL_PARAMS + (last - first) * BLOCK_PARAMS;
    range->base = range->params = params_of_range(model, first, range->base_count);
    range->rng = *pass->rng;
    range->block_forwards = 0;
    range->newest = NULL;
    range->forward_blocks = NULL; /* who opens a range may be who is set there */
    range->backward_blocks = NULL;
    range->enter = range->leave = NULL; /* they know the blocks by other numbers */
    range->pass = pass_new(range, pass->memory, &range->rng);
    range->pass.input = x;
    range->pass.gradient = pass->dx;
    return range;
}

void range_close(Model *range) {
    CHECK(!range->pass.active, "the pass of a range of blocks is in flight");
    model_free(range);
}
