/* Lab 06 in the probe: the holes. Nothing in it can run a model: what bytes come to is to be
   predicted. */
#define _GNU_SOURCE
#include "grader/labs/06_fit/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "grader/probe.h"

/* Before all questions that count: of another model, which is larger. Nothing of it may stay. */
static void ask_about_another(const ModelConfig *config, int T, const Device *device) {
    ModelConfig other = *config;
    other.L++;
    for (Precision precision = F32; precision <= BF16; precision++) {
        plan_bytes(&other, T, &(Plan){.micro_batch = 1, .window = 1, .precision = precision},
                   device);
    }
}

static void plan_bytes_case(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    size_t count;
    const int32_t *plans = given_numbers(in, "plans", &count);
    const char *names = wire_get(in, "names", WIRE_BYTES, NULL);
    Device *device = plan_device(in);
    ask_about_another(&config, given_asked(in, ASK_T), device);
    for (size_t i = 0; i < count / PLAN_NUMBERS; i++) {
        Plan plan = plan_of(plans + i * PLAN_NUMBERS);
        MemoryUse use = plan_bytes(&config, given_asked(in, ASK_T), &plan, device);
        uint64_t *answer = wire_get(out, names + i * WIRE_NAME, WIRE_U64, NULL);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            answer[kind] = use.bytes[kind];
        }
    }
    device_free(device);
}

static void plan_cost_case(const Wire *in, Wire *out) {
    size_t bytes;
    const CostAsk *asks = wire_get(in, "costs", WIRE_BYTES, &bytes);
    double *seconds = wire_get(out, "seconds", WIRE_F64, NULL);
    for (size_t i = 0; i < bytes / sizeof *asks; i++) {
        seconds[i] = plan_cost(&asks[i].config, asks[i].T, &asks[i].plan, &asks[i].rates);
    }
}

/* ---- blocks that differ ---------------------------------------------------------------------- */

/* The options, each with its blocks, and after the last what a search that reads on would take: an
   option that needs no bytes and no seconds. Freed by the caller. */
static PlanOption *given_options(const Wire *in, const char *options_of, const char *blocks_of,
                                 int *count) {
    size_t bytes;
    const void *options = wire_get(in, options_of, WIRE_BYTES, &bytes);
    const PlanBlock *blocks = wire_get(in, blocks_of, WIRE_BYTES, NULL);
    PlanOption *copy = calloc(bytes / sizeof *copy + 1, sizeof *copy);
    CHECK(copy != NULL, "no host memory for options");
    memcpy(copy, options, bytes);
    *count = (int)(bytes / sizeof *copy);
    for (int i = 0; i < *count; i++) {
        copy[i].block = copy[i].blocks > 0 ? blocks + (size_t)i * PLAN_BLOCKS : NULL;
    }
    return copy;
}

static void plan_peak_case(const Wire *in, Wire *out) {
    int count;
    PlanOption *options = given_options(in, "options", "blocks", &count);
    const unsigned char *ways = wire_get(in, "ways", WIRE_BYTES, NULL);
    uint64_t *peaks = wire_get(out, "peaks", WIRE_U64, NULL);
    for (int i = 0; i < count; i++) {
        peaks[i] = plan_peak(&options[i], ways + (size_t)i * PLAN_BLOCKS);
    }
    free(options);
}

/* Scratch memory belongs to plan_choose() until it returns: the first calls find it spoilt. */
static void spoil(void *scratch, size_t call) {
    if (call < 2) {
        memset(scratch, 0xA5, PLAN_SCRATCH);
    }
}

/* A run may have a second stack, whose tensors have `suffix` in their names. */
static void choose_in(const Wire *in, Wire *out, const char *suffix, void *scratch) {
    enum { OPTIONS, BLOCKS, BUDGETS, RESULTS, CHOICES, NAMES };
    static const char *const tensors[] = {"options", "blocks", "budgets", "results", "choices"};
    char name[NAMES][WIRE_NAME];
    int count;
    size_t asked;
    for (int i = 0; i < NAMES; i++) {
        snprintf(name[i], WIRE_NAME, "%s%s", tensors[i], suffix);
    }
    PlanOption *options = given_options(in, name[OPTIONS], name[BLOCKS], &count);
    const uint64_t *budgets = wire_get(in, name[BUDGETS], WIRE_U64, &asked);
    int32_t *results = wire_get(out, name[RESULTS], WIRE_I32, NULL);
    int32_t *choices = wire_get(out, name[CHOICES], WIRE_I32, NULL);
    for (size_t i = 0; i < asked; i++) {
        PlanChoice choice = {.option = CHOICE_UNTOUCHED}; /* stays, where nothing fits */
        memset(choice.way, WAY_UNTOUCHED, sizeof choice.way);
        int32_t *to = choices + i * CHOICE_NUMBERS;
        spoil(scratch, i);
        results[i] = plan_choose(options, count, budgets[i], scratch, PLAN_SCRATCH, &choice);
        *to++ = choice.option;
        for (int k = 0; k < PLAN_BLOCKS; k++) {
            to[k] = choice.way[k];
        }
    }
    free(options);
}

/* Scratch memory between bytes that belong to nobody. */
static void *guarded_scratch(void) {
    enum { AROUND = 64 << 20 };
    size_t bytes = 2 * (size_t)AROUND + PLAN_SCRATCH;
    char *all = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(all != MAP_FAILED && mprotect(all + AROUND, PLAN_SCRATCH, PROT_READ | PROT_WRITE) == 0,
          "no host memory");
    probe_lost_in(all, bytes,
                  "plan_choose() reads or writes outside of its scratch memory, which has `bytes` "
                  "bytes: plans so far can be more than it holds");
    return all + AROUND;
}

static void plan_choose_case(const Wire *in, Wire *out) {
    void *scratch = guarded_scratch();
    choose_in(in, out, "", scratch);
    if (wire_has(in, "second", WIRE_I32, 1)) {
        choose_in(in, out, CHOICE_SECOND, scratch);
    }
}

static void plan_largest_case(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    size_t count;
    const int32_t *plans = given_numbers(in, "plans", &count);
    const uint64_t *budgets = wire_get(in, "budgets", WIRE_U64, NULL);
    const int32_t *most = given_numbers(in, "most", NULL);
    uint64_t *answers = wire_get(out, "largest", WIRE_U64, NULL);
    Device *device = plan_device(in);
    for (size_t i = 0; i < count / PLAN_NUMBERS; i++) {
        Plan plan = plan_of(plans + i * PLAN_NUMBERS);
        int sequences =
            plan_largest(&config, given_asked(in, ASK_T), budgets[i], device, &plan, most[i]);
        answers[i] = (uint64_t)(int64_t)sequences;
    }
    device_free(device);
}

const ProbeCase probe_cases[] = {
    {"bytes", plan_bytes_case},   {"cost", plan_cost_case},       {"peak", plan_peak_case},
    {"choose", plan_choose_case}, {"largest", plan_largest_case}, {NULL, NULL},
};
