/* Adds up the bytes of states over the kit's own list of parameters. */
/* lab: 07_optimizers/choose.c honest: codebook_signed codebook_unsigned adam8_first
   adam8_codes adam8_books adam8_bad adam8_clean adam8_schedules
   adam8_traffic adam8_large means adafactor adafactor_tiny adafactor_apart adafactor_clean
   adafactor_schedules adafactor_traffic adam8_resumed adafactor_resumed */
/* state: build error */
#include "labs/07_optimizers/contract.h"

size_t optim_bytes(const ModelConfig *config, Optim optim) {
    Param params[200];
    size_t bytes = 0;
    (void)optim;
    params_describe(params, config);
    for (int i = 0; i < params_count(config); i++) {
        bytes += 8 * params[i].count;
    }
    return bytes;
}

int optim_choose(const ModelConfig *config, const Optim *optims, int optim_count,
                 const PlanOption *options, int count, size_t budget, void *scratch,
                 size_t scratch_bytes, OptimChoice *choice) {
    (void)config, (void)optims, (void)optim_count, (void)options, (void)count, (void)budget;
    (void)scratch, (void)scratch_bytes, (void)choice;
    return -1;
}
