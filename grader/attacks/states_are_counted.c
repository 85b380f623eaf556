/* Makes an optimizer and counts what it takes. */
/* lab: 07_optimizers/choose.c honest: codebook_signed codebook_unsigned adam8_first
   adam8_codes adam8_books adam8_bad adam8_clean adam8_schedules
   adam8_traffic adam8_large means adafactor adafactor_tiny adafactor_apart adafactor_clean
   adafactor_schedules adafactor_traffic adam8_resumed adafactor_resumed */
/* state: build error */
#include "common/trainer.h"
#include "labs/07_optimizers/contract.h"

size_t optim_bytes(const ModelConfig *config, Optim optim) {
    MemoryUse peak;
    Trainer way = {.rule = rule_of(optim, NULL)};
    trainer_measure_as(&way, config, (Checkpoint){0}, 1, 1, NULL, &peak);
    return peak.bytes[MEMORY_OPTIMIZER];
}

int optim_choose(const ModelConfig *config, const Optim *optims, int optim_count,
                 const PlanOption *options, int count, size_t budget, void *scratch,
                 size_t scratch_bytes, OptimChoice *choice) {
    (void)config, (void)optims, (void)optim_count, (void)options, (void)count, (void)budget;
    (void)scratch, (void)scratch_bytes, (void)choice;
    return -1;
}
