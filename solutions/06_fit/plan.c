/* Lab 06: what a plan takes. The contracts are in labs/06_fit/contract.h. */
#include "common/lab.h"
#include "labs/00_bytes/contract.h"
#include "labs/04_checkpoint/contract.h"
#include "labs/06_fit/contract.h"

/* ---- what a plan takes ----------------------------------------------------------------------- */

MemoryUse plan_bytes(const ModelConfig *config, int T, const Plan *plan, const Device *device) {
    ModelConfig planned = plan_config(config, plan);
    MemoryUse use = bytes_states(&planned);
#ifndef STUB
    size_t N = (size_t)plan->micro_batch * (size_t)T;
    use.bytes[MEMORY_ACTIVATIONS] =
        checkpoint_bytes(&planned, plan->micro_batch, T, plan->checkpoint);
    use.bytes[MEMORY_WORKSPACE] = workspace_bytes(&planned, device);
    use.bytes[MEMORY_DATA] = 2 * N * sizeof(int32_t);
#else
    (void)T, (void)device;
    TODO("task 1: activations, workspace and data of this plan (about 5 lines)");
#endif
    return use;
}

static size_t total_bytes(const ModelConfig *config, int T, const Plan *plan,
                          const Device *device) {
    MemoryUse use = plan_bytes(config, T, plan, device);
    return memory_total(&use);
}

/* ---- the largest micro-batch ----------------------------------------------------------------- */

int plan_largest(const ModelConfig *config, int T, size_t budget, const Device *device,
                 const Plan *plan, int most) {
    Plan trial = *plan;
#ifndef STUB
    int fits = 0, too_many = most + 1; /* more sequences never take less */
    while (too_many - fits > 1) {
        trial.micro_batch = fits + (too_many - fits) / 2;
        if (total_bytes(config, T, &trial, device) <= budget) {
            fits = trial.micro_batch;
        } else {
            too_many = trial.micro_batch;
        }
    }
    return fits;
#else
    (void)config, (void)T, (void)budget, (void)device, (void)trial, (void)most, (void)total_bytes;
    TODO("task 5: the most sequences whose bytes fit (about 10 lines)");
#endif
}
