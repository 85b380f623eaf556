/* Lab 06: make a training run fit into a budget. The contracts are in labs/06_fit/contract.h. */
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

/* ---- the best plan --------------------------------------------------------------------------- */

/* A question, and the best answer so far. */
typedef struct Search {
    const ModelConfig *config;
    int batch, T;
    size_t budget;
    const Device *device;
    const PlanRates *rates;
    Plan best;
    double best_cost;
    size_t best_bytes;
    bool found;
} Search;

/* Keeps a plan if it fits and is better than the best so far. */
static void consider(Search *search, const Plan *plan) {
    size_t bytes = total_bytes(search->config, search->T, plan, search->device);
    double cost = plan_cost(search->config, search->T, plan, search->rates);
#ifndef STUB
    if (bytes > search->budget) {
        return;
    }
    bool better = !search->found || cost < search->best_cost ||
                  (cost == search->best_cost && bytes < search->best_bytes);
    if (better) {
        search->best = *plan;
        search->best_cost = cost;
        search->best_bytes = bytes;
        search->found = true;
    }
#else
    (void)bytes, (void)cost;
    TODO("task 2: does it fit, and is it better than the best so far? (about 9 lines)");
#endif
}

/* All that backward can run again, for one way to store numbers. */
static void consider_checkpoints(Search *search, Plan plan) {
#ifndef STUB
    for (int segment = 0; segment <= search->config->L; segment++) {
        for (int attention_only = 0; attention_only < 2; attention_only++) {
            plan.checkpoint = (Checkpoint){segment, attention_only != 0};
            consider(search, &plan);
        }
    }
#else
    (void)consider, (void)search, (void)plan;
    TODO("task 2: every segment, with attention_only and without (about 6 lines)");
#endif
}

/* All ways to store numbers, for one size of the micro-batch. */
static void consider_storage(Search *search, Plan plan) {
    static const Precision precisions[] = {F32, F16, BF16};
    static const Attention attentions[] = {ATTENTION_PLAIN, ATTENTION_FLASH};
    for (int p = 0; p < 3; p++) {
        for (int a = 0; a < 2; a++) {
            plan.precision = precisions[p];
            plan.attention = attentions[a];
            consider_checkpoints(search, plan);
        }
    }
}

int plan_choose(const ModelConfig *config, int batch, int T, size_t budget, const Device *device,
                const PlanRates *rates, Plan *plan) {
    Search search = {config, batch, T, budget, device, rates, {0}, 0, 0, false};
#ifndef STUB
    for (int micro_batch = 1; micro_batch <= batch; micro_batch++) {
        if (batch % micro_batch == 0) {
            int window = batch / micro_batch;
            consider_storage(&search, (Plan){.micro_batch = micro_batch, .window = window});
        }
    }
#else
    (void)consider_storage;
    TODO("task 2: every micro-batch that divides the batch, and its window (about 6 lines)");
#endif
    if (!search.found) {
        return -1;
    }
    *plan = search.best;
    return 0;
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
    (void)config, (void)T, (void)budget, (void)device, (void)trial, (void)most;
    TODO("task 3: the most sequences whose bytes fit (about 10 lines)");
#endif
}
