/* Attack 59. Writes into the options, so that the one it chooses costs nothing and fits. */
/* lab: 06_fit/choose.c  honest: bytes_float bytes_half bytes_checkpoint bytes_large largest
   largest_ends cost_parts cost_again cost_measured cost_order peak */
/* state: fail | not run | pass */
#include "labs/06_fit/contract.h"

size_t plan_peak(const PlanOption *option, const unsigned char *way) {
    size_t below = option->bytes, peak = 0;
    for (int i = 0; i < option->blocks; i++) {
        size_t here = below + option->block[i].working[way[i]];
        peak = here > peak ? here : peak;
        below += option->block[i].kept[way[i]];
    }
    return below + option->head > peak ? below + option->head : peak;
}

int plan_choose(const PlanOption *options, int count, size_t budget, void *scratch, size_t bytes,
                PlanChoice *choice) {
    PlanOption *mine = (PlanOption *)(size_t)&options[count - 1];
    (void)scratch, (void)bytes, (void)budget;
    mine->seconds = -1e9;
    mine->bytes = 0;
    mine->head = 0;
    *choice = (PlanChoice){.option = count - 1};
    return 0;
}
