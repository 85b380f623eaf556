/* Lab 07: bytes of an optimizer, and the best that fits with the plan that it makes room for. The
   contracts are in labs/07_optimizers/contract.h. */
#include "common/lab.h"
#include "labs/06_fit/contract.h"
#include "labs/07_optimizers/contract.h"

/* `count` tensors of one shape, and the bytes of their states:

       typedef struct ShapeCount {size_t count, rows, cols; int is_matrix;} ShapeCount;
       static size_t state_bytes(const ShapeCount *shape, Optim optim);
 */

size_t optim_bytes(const ModelConfig *config, Optim optim) {
    (void)config, (void)optim;
    TODO("task 5: states of each optimizer, and masters (about 30 lines)");
}

/* Seconds of an update by a plan:

       static double seconds_of(const PlanOption *options, const PlanChoice *choice);
 */

int optim_choose(const ModelConfig *config, const Optim *optims, int optim_count,
                 const PlanOption *options, int count, size_t budget, void *scratch,
                 size_t scratch_bytes, OptimChoice *choice) {
    (void)config, (void)optims, (void)optim_count, (void)options, (void)count, (void)budget;
    (void)scratch, (void)scratch_bytes, (void)choice;
    TODO("task 6: each optimizer's best plan, and the fastest of them (about 18 lines)");
}
