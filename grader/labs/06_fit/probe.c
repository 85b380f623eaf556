/* Lab 06 in the probe: the three holes. Nothing in it can run a model: what bytes come to is to be
   predicted. */
#include "grader/labs/06_fit/shared.h"

#include <string.h>

#include "grader/probe.h"

static void plan_bytes_case(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    size_t count;
    const int32_t *plans = given_numbers(in, "plans", &count);
    const char *names = wire_get(in, "names", WIRE_BYTES, NULL);
    Device *device = plan_device(in);
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

static void plan_choose_case(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    PlanRates rates;
    size_t count;
    memcpy(&rates, wire_get(in, "rates", WIRE_BYTES, NULL), sizeof rates);
    const uint64_t *budgets = wire_get(in, "budgets", WIRE_U64, &count);
    int32_t *results = wire_get(out, "results", WIRE_I32, NULL);
    int32_t *plans = wire_get(out, "choices", WIRE_I32, NULL);
    Device *device = plan_device(in);
    for (size_t i = 0; i < count; i++) {
        Plan plan = {.micro_batch = -1, .window = -1}; /* stays, where nothing fits */
        results[i] = plan_choose(&config, given_asked(in, ASK_BATCH), given_asked(in, ASK_T),
                                 budgets[i], device, &rates, &plan);
        plan_numbers(&plan, plans + i * PLAN_NUMBERS);
    }
    device_free(device);
}

static void plan_largest_case(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    size_t count;
    const int32_t *plans = given_numbers(in, "plans", &count);
    const uint64_t *budgets = wire_get(in, "budgets", WIRE_U64, NULL);
    uint64_t *answers = wire_get(out, "largest", WIRE_U64, NULL);
    Device *device = plan_device(in);
    for (size_t i = 0; i < count / PLAN_NUMBERS; i++) {
        Plan plan = plan_of(plans + i * PLAN_NUMBERS);
        int most = plan_largest(&config, given_asked(in, ASK_T), budgets[i], device, &plan,
                                given_asked(in, ASK_MOST));
        answers[i] = (uint64_t)(int64_t)most;
    }
    device_free(device);
}

const ProbeCase probe_cases[] = {
    {"bytes", plan_bytes_case},
    {"choose", plan_choose_case},
    {"largest", plan_largest_case},
    {NULL, NULL},
};
