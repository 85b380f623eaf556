/* Lab 07: bytes of an optimizer, and the best that fits with the plan that it makes room for. The
   contracts are in labs/07_optimizers/contract.h. */
#include "common/lab.h"
#include "labs/06_fit/contract.h"
#include "labs/07_optimizers/contract.h"

/* `count` tensors of one shape, and the bytes of their states:

       typedef struct ShapeCount {size_t count, rows, cols; int is_matrix;} ShapeCount;
       static size_t state_bytes(const ShapeCount *shape, Optim optim);
 */
#ifndef STUB
typedef struct ShapeCount {
    size_t count, rows, cols;
    int is_matrix;
} ShapeCount;

static size_t state_bytes(const ShapeCount *shape, Optim optim) {
    size_t n = shape->rows * shape->cols;
    switch (optim) {
    case OPTIM_ADAMW_8BIT:
        return n < ADAM8_LEAST ? 8 * n : 2 * n + 8 * adam8_blocks(n);
    case OPTIM_ADAFACTOR:
        return sizeof(float) * (shape->is_matrix ? shape->rows + shape->cols : n);
    default:
        return 8 * n;
    }
}
#endif

size_t optim_bytes(const ModelConfig *config, Optim optim) {
#ifndef STUB
    size_t V = (size_t)config->V, T = (size_t)config->T, C = (size_t)config->C;
    size_t L = (size_t)config->L, bytes = 0;
    const ShapeCount all[] = {
        {1, V, C, 1},     {1, T, C, 1},     {L, 3 * C, C, 1},
        {L, C, C, 1},     {L, 4 * C, C, 1}, {L, C, 4 * C, 1},
        {L, 1, 3 * C, 0}, {L, 1, 4 * C, 0}, {6 * L + 2, 1, C, 0},
    };
    size_t master = config->precision == F32 ? 0 : sizeof(float);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const ShapeCount *shape = &all[i];
        size_t n = shape->rows * shape->cols;
        bytes += shape->count * (state_bytes(shape, optim) + n * master);
    }
    return bytes;
#else
    (void)config, (void)optim;
    TODO("task 5: states of each optimizer, and masters (about 30 lines)");
#endif
}

/* Seconds of an update by a plan:

       static double seconds_of(const PlanOption *options, const PlanChoice *choice);
 */
#ifndef STUB
static double seconds_of(const PlanOption *options, const PlanChoice *choice) {
    const PlanOption *option = &options[choice->option];
    double seconds = option->seconds;
    for (int i = 0; i < option->blocks; i++) {
        seconds += option->block[i].seconds[choice->way[i]];
    }
    return seconds;
}
#endif

int optim_choose(const ModelConfig *config, const Optim *optims, int optim_count,
                 const PlanOption *options, int count, size_t budget, void *scratch,
                 size_t scratch_bytes, OptimChoice *choice) {
#ifndef STUB
    size_t adamw = optim_bytes(config, OPTIM_ADAMW);
    double best = 0;
    int found = 0;
    for (int i = 0; i < optim_count; i++) {
        PlanChoice plan;
        size_t saved = adamw - optim_bytes(config, optims[i]); /* none keeps more than AdamW */
        size_t room = budget < SIZE_MAX - saved ? budget + saved : SIZE_MAX;
        if (plan_choose(options, count, room, scratch, scratch_bytes, &plan) != 0) {
            continue;
        }
        double seconds = seconds_of(options, &plan);
        if (!found || seconds < best) {
            *choice = (OptimChoice){optims[i], plan};
            best = seconds;
            found = 1;
        }
    }
    return found ? 0 : -1;
#else
    (void)config, (void)optims, (void)optim_count, (void)options, (void)count, (void)budget;
    (void)scratch, (void)scratch_bytes, (void)choice;
    TODO("task 6: each optimizer's best plan, and the fastest of them (about 18 lines)");
#endif
}
