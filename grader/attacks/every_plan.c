/* Attack 58. Looks at every plan, which is right for few blocks, and hopes that 24 are few. */
/* lab: 06_fit/choose.c  honest: bytes_float bytes_half bytes_checkpoint bytes_large largest
   largest_ends cost_parts cost_again cost_measured cost_order peak choose_roomy choose_exact
   choose_short choose_ties nothing_fits trains trains_gpu */
/* state: timeout | not run | pass */
#include <string.h>

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
    double least = 0;
    size_t lowest = 0;
    int found = -1;
    (void)scratch, (void)bytes;
    for (int i = 0; i < count; i++) {
        PlanChoice trial = {.option = i};
        int block = 0;
        while (block < options[i].blocks || options[i].blocks == 0) {
            double seconds = options[i].seconds;
            size_t peak = plan_peak(&options[i], trial.way);
            for (int k = 0; k < options[i].blocks; k++) {
                seconds += options[i].block[k].seconds[trial.way[k]];
            }
            if (peak <= budget &&
                (found < 0 || seconds < least || (seconds == least && peak < lowest))) {
                *choice = trial;
                least = seconds;
                lowest = peak;
                found = 0;
            }
            for (block = 0; block < options[i].blocks && trial.way[block] == WAY_AGAIN; block++) {
                trial.way[block] = WAY_KEEP;
            }
            if (block == options[i].blocks) {
                break;
            }
            trial.way[block]++;
        }
    }
    return found;
}
