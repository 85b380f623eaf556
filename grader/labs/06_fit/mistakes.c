#include "grader/labs/06_fit/mistakes.h"

#include <math.h>

/* ---- bytes ----------------------------------------------------------------------------------- */

static MemoryUse space_use_but(MemoryUse use, MemoryKind kind, size_t bytes) {
    use.bytes[kind] = bytes;
    return use;
}

static MemoryUse space_use_activations(const Space *space, MemoryUse use, Plan plan) {
    MemoryUse other = space_counted(space, &plan);
    return space_use_but(use, MEMORY_ACTIVATIONS, other.bytes[MEMORY_ACTIVATIONS]);
}

int space_bytes_mistakes(const Space *space, const Plan *plan, MemoryUse right,
                         const char *sentences[], MemoryUse uses[]) {
    int n = 0;
    size_t data = right.bytes[MEMORY_DATA];
    Plan batch = *plan, plain = *plan, own = *plan;
    batch.micro_batch = space->batch;
    plain.checkpoint = (Checkpoint){0};
    own.precision = space->config.precision;
    own.attention = space->config.attention;
    const Plan kept = {.micro_batch = plan->micro_batch,
                       .precision = plan->precision,
                       .attention =
                           plan->attention == ATTENTION_PLAIN ? ATTENTION_FLASH : ATTENTION_PLAIN,
                       .checkpoint = plan->checkpoint};
    sentences[n] = "the float masters of weights in half are missing: 4 bytes for each parameter";
    uses[n++] = space_use_but(right, MEMORY_OPTIMIZER, 2 * right.bytes[MEMORY_GRADIENTS]);
    sentences[n] = "the workspace is missing: workspace_bytes()";
    uses[n++] = space_use_but(right, MEMORY_WORKSPACE, 0);
    sentences[n] = "the data are missing: a token and a target of 4 bytes each";
    uses[n++] = space_use_but(right, MEMORY_DATA, 0);
    sentences[n] = "each token has a target, which takes 4 bytes as well";
    uses[n++] = space_use_but(right, MEMORY_DATA, data / 2);
    sentences[n] =
        "the data are those of the whole window; a micro-batch is on the device at a time";
    uses[n++] = space_use_but(right, MEMORY_DATA, data * (size_t)plan->window);
    sentences[n] = "these are the activations of the whole batch; those of a micro-batch are freed "
                   "before the next one begins";
    uses[n++] = space_use_activations(space, right, batch);
    sentences[n] =
        "activations and data are those of the whole batch; a micro-batch is there at a time";
    uses[n++] = space_counted(space, &batch);
    sentences[n] =
        "the activations are those of a plain step: checkpoint_bytes() knows what is run "
        "again";
    uses[n++] = space_use_activations(space, right, plain);
    sentences[n] = "the activations are those of the other kind of attention: take plan->attention";
    uses[n++] = space_use_activations(space, right, kept);
    sentences[n] = "precision and attention are the plan's, not the config's: see plan_config()";
    uses[n++] = space_counted(space, &own);
    return n;
}

/* ---- choosing, rightly and by mistake -------------------------------------------------------- */

static bool measured_cheaper(const Measured *a, const Measured *b) {
    return a->cost < b->cost || (a->cost == b->cost && a->bytes < b->bytes);
}

const Measured *rule_choose(const Space *space, size_t budget, const Rule *rule) {
    const Measured *best = NULL;
    size_t limit = rule->budget != NULL ? rule->budget(budget) : budget;
    for (int i = 0; i < space->count; i++) {
        const Measured *m = &space->plan[i];
        size_t bytes = rule->bytes != NULL ? rule->bytes(space, m) : m->bytes;
        bool considered = rule->considers == NULL || rule->considers(space, &m->plan);
        bool (*better)(const Measured *, const Measured *) =
            rule->better ? rule->better : measured_cheaper;
        if (bytes <= limit && considered && (best == NULL || better(m, best))) {
            best = m;
        }
    }
    return best;
}

static size_t bytes_without(const Measured *m, MemoryKind kind, size_t bytes) {
    return m->bytes - m->use.bytes[kind] + bytes;
}
static size_t bytes_without_masters(const Space *space, const Measured *m) {
    (void)space;
    return bytes_without(m, MEMORY_OPTIMIZER, m->use.bytes[MEMORY_GRADIENTS] * 2);
}
static size_t bytes_without_workspace(const Space *space, const Measured *m) {
    (void)space;
    return bytes_without(m, MEMORY_WORKSPACE, 0);
}
static size_t bytes_without_data(const Space *space, const Measured *m) {
    (void)space;
    return bytes_without(m, MEMORY_DATA, 0);
}
/* The bytes of the plan that is the same but for what `plan` was changed to. */
static size_t bytes_of_plan(const Space *space, Plan plan) {
    const Measured *other = space_find(space, &plan);
    CHECK(other != NULL, "there is no such plan");
    return other->bytes;
}
static size_t bytes_of_batch(const Space *space, const Measured *m) {
    Plan plan = m->plan;
    plan.micro_batch = space->batch;
    plan.window = 1;
    return bytes_of_plan(space, plan);
}
static size_t bytes_unchecked(const Space *space, const Measured *m) {
    Plan plan = m->plan;
    plan.checkpoint = (Checkpoint){0};
    return bytes_of_plan(space, plan);
}
static size_t bytes_in_float(const Space *space, const Measured *m) {
    Plan plan = m->plan;
    plan.precision = F32;
    return bytes_of_plan(space, plan);
}
static size_t bytes_as_plain(const Space *space, const Measured *m) {
    Plan plan = m->plan;
    plan.attention = ATTENTION_PLAIN;
    return bytes_of_plan(space, plan);
}

static bool considers_not_whole(const Space *space, const Plan *plan) {
    return plan->micro_batch < space->batch;
}
static bool considers_not_single(const Space *space, const Plan *plan) {
    (void)space;
    return plan->micro_batch > 1;
}
static bool considers_powers_of_two(const Space *space, const Plan *plan) {
    (void)space;
    return (plan->micro_batch & (plan->micro_batch - 1)) == 0;
}
static bool considers_no_segments(const Space *space, const Plan *plan) {
    (void)space;
    return plan->checkpoint.segment == 0;
}
static bool considers_keeps_probs(const Space *space, const Plan *plan) {
    (void)space;
    return !plan->checkpoint.attention_only;
}
static bool considers_float(const Space *space, const Plan *plan) {
    (void)space;
    return plan->precision == F32;
}
static bool considers_no_bf16(const Space *space, const Plan *plan) {
    (void)space;
    return plan->precision != BF16;
}
static bool considers_plain(const Space *space, const Plan *plan) {
    (void)space;
    return plan->attention == ATTENTION_PLAIN;
}

static bool measured_smaller(const Measured *a, const Measured *b) {
    return a->bytes < b->bytes || (a->bytes == b->bytes && a->cost < b->cost);
}
static bool measured_wider(const Measured *a, const Measured *b) {
    int more = a->plan.micro_batch - b->plan.micro_batch;
    return more > 0 || (more == 0 && measured_cheaper(a, b));
}
static size_t budget_less_one(size_t budget) {
    return budget > 0 ? budget - 1 : 0;
}
static size_t budget_whole_mib(size_t budget) {
    return budget >> 20 << 20;
}
static size_t budget_mib_for_mb(size_t budget) {
    return (size_t)((double)budget * (1 << 20) / 1e6);
}
static size_t budget_mb_for_mib(size_t budget) {
    return (size_t)((double)budget * 1e6 / (1 << 20));
}

const Rule plan_rules[PLAN_RULES] = {
    {.sentence = "it has the fewest bytes; the task asks for the least cost of those that fit",
     .better = measured_smaller},
    {.sentence =
         "the largest micro-batch that fits is not always the cheapest: what must run again "
         "for it costs too",
     .better = measured_wider},
    {.sentence = "the whole batch as one micro-batch is never tried: batch divides batch",
     .considers = considers_not_whole},
    {.sentence = "a micro-batch of one sequence is never tried", .considers = considers_not_single},
    {.sentence = "only powers of two are tried: every divisor of the batch is a micro-batch",
     .considers = considers_powers_of_two},
    {.sentence = "no segments are tried", .considers = considers_no_segments},
    {.sentence = "attention_only is never tried", .considers = considers_keeps_probs},
    {.sentence = "only float is tried", .considers = considers_float},
    {.sentence = "bf16 is never tried", .considers = considers_no_bf16},
    {.sentence = "flash attention is never tried", .considers = considers_plain},
    {.sentence = "the bytes are those of the whole batch; only a micro-batch is there at a time",
     .bytes = bytes_of_batch},
    {.sentence = "the float masters of weights in half are not counted",
     .bytes = bytes_without_masters},
    {.sentence = "the workspace is not counted", .bytes = bytes_without_workspace},
    {.sentence = "tokens and targets are not counted", .bytes = bytes_without_data},
    {.sentence = "what is run again is not seen in the bytes: checkpoint_bytes() takes the plan's "
                 "checkpoint",
     .bytes = bytes_unchecked},
    {.sentence = "half counts as float: the bytes are those of the plan's precision",
     .bytes = bytes_in_float},
    {.sentence = "the kind of attention is not seen in the bytes", .bytes = bytes_as_plain},
    {.sentence = "a plan that takes exactly the budget fits", .budget = budget_less_one},
    {.sentence = "the budget is rounded down to whole MiB; it is in bytes",
     .budget = budget_whole_mib},
    {.sentence = "the budget is taken for MB, 10^6 bytes, and turned into MiB; it is in bytes",
     .budget = budget_mib_for_mb},
    {.sentence = "the budget is taken for MiB and turned into MB, 10^6 bytes; it is in bytes",
     .budget = budget_mb_for_mib},
};

size_t rule_worst_budget(const Space *space, const Rule *rule) {
    size_t worst = 0;
    double most = 1;
    for (int i = 0; i < space->fronts; i++) {
        size_t budget = space->front[i]->bytes;
        const Measured *chosen = rule_choose(space, budget, rule);
        bool fits = chosen != NULL && chosen->bytes <= budget;
        double harm = fits ? chosen->cost / space->front[i]->cost : (double)INFINITY;
        if (harm > most) {
            most = harm;
            worst = budget;
        }
    }
    return worst;
}

/* Plans of equal cost differ in nothing that a rule looks at. */
static bool measured_alike(const Measured *a, const Measured *b) {
    return a == b || (a != NULL && b != NULL && a->cost == b->cost);
}

const char *rules_likely(const Space *space, const uint64_t *budgets, const Measured *const *chosen,
                         int count) {
    for (int i = 0; i < PLAN_RULES; i++) {
        int explained = 0;
        while (explained < count &&
               measured_alike(rule_choose(space, budgets[explained], &plan_rules[i]),
                              chosen[explained])) {
            explained++;
        }
        if (explained == count) {
            return plan_rules[i].sentence;
        }
    }
    return "";
}
