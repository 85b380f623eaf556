/* A worked example of checks that students do not have. Copied to grader/hidden/00_bytes.c it is a
   part of lab 00: the judge is built with it, the probe knows the same cases as before. */
#include "common/params.h"
#include "grader/check.h"

enum { SHAPE_NUMBERS = 9, SECONDS = 10, MOST_LAYERS = 96 };

/* The case "params" wants nine numbers for each shape, its dropout, and the name of its answer. */
static bool ask(Check *check, const ModelConfig *config) {
    const int32_t shape[SHAPE_NUMBERS] = {config->V,    config->T, config->L,       config->NH,
                                          config->C,    F32,       ATTENTION_PLAIN,
                                          /* B, T */ 1, 1};
    const float dropout = 0;
    const char name[WIRE_NAME] = "answer";
    check_give(check, "shapes", WIRE_I32, shape, SHAPE_NUMBERS);
    check_give(check, "dropout", WIRE_F32, &dropout, 1);
    check_give(check, "names", WIRE_BYTES, name, sizeof name);
    check_want(check, name, WIRE_U64, 1);
    return check_run(check, "params", SECONDS);
}

static uint64_t count(const ModelConfig *config) {
    Param params[MODEL_PARAMS + MOST_LAYERS * BLOCK_PARAMS];
    uint64_t numbers = 0;
    params_describe(params, config);
    for (int i = 0; i < params_count(config); i++) {
        numbers += params[i].count;
    }
    return numbers;
}

/* The kit's checks ask for embeddings whose elements 32 bits can count. */
HIDDEN(00_bytes, huge, 5, "a vocabulary of a million", VISIBLE_AFTER_DUE_DATE) {
    ModelConfig config = {.V = 1000003, .T = 2048, .L = 96, .NH = 96, .C = 12288};
    if (ask(check, &config)) {
        uint64_t embedding = (uint64_t)config.V * (uint64_t)config.C;
        uint64_t want = count(&config), cut = want - embedding + (uint32_t)embedding;
        ExactSuspect suspect = {"the product does not fit into an int: make its factors size_t",
                                &cut};
        check_equal(check, "answer", &want, 1, &suspect, 1);
    }
}

/* Without points: what the instructor wants to know before the next lecture. */
HIDDEN(00_bytes, one_of_each, 0, "the smallest model there is", VISIBLE_NEVER) {
    ModelConfig config = {.V = 1, .T = 1, .L = 1, .NH = 1, .C = 1};
    if (ask(check, &config)) {
        uint64_t want = count(&config);
        check_equal(check, "answer", &want, 1, NULL, 0);
    }
}
