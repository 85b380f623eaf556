#include "grader/labs/10_lora/sizes.h"

#include <stdio.h>

#include "grader/judge_training.h"
#include "grader/labs/10_lora/counted.h"
#include "grader/labs/10_lora/layer.h"

ModelConfig sizes_config(Check *check, Precision precision, Attention attention, bool dropout) {
    ModelConfig config = {.V = check_int(check, 256, 300),
                          .T = check_int(check, 20, 40),
                          .L = check_int(check, 3, 6),
                          .NH = check_int(check, 2, 4),
                          .precision = precision,
                          .attention = attention};
    config.C = config.NH * check_int(check, 9, 20);
    config.adapter =
        layer_adapter(check, (unsigned)check_int(check, 1, TARGET_ALL), dropout ? 0.1f : 0);
    return config;
}

void sizes_give_adapters(const Quiz *quiz) {
    int32_t n[2 * QUIZ_SHAPES];
    float x[2 * QUIZ_SHAPES];
    for (int i = 0; i < quiz->count; i++) {
        const Adapter *adapter = &quiz->shape[i].config.adapter;
        n[2 * i] = adapter->rank;
        n[2 * i + 1] = (int32_t)adapter->targets;
        x[2 * i] = adapter->alpha;
        x[2 * i + 1] = adapter->dropout;
    }
    check_give(quiz->check, "adapters", WIRE_I32, n, 2 * (size_t)quiz->count);
    check_give(quiz->check, "adapter floats", WIRE_F32, x, 2 * (size_t)quiz->count);
}

static const char *states_label(size_t i, char *text) {
    snprintf(text, CHECK_LABEL, "%s", memory_kind_name((MemoryKind)i));
    return text;
}

static void kinds_of(uint64_t to[MEMORY_KINDS], MemoryUse use) {
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        to[kind] = use.bytes[kind];
    }
}

enum { STATES_MISTAKES = 6 };

void sizes_expect_states(Check *check, const char *name, const ModelConfig *config) {
    static const char *const sentences[STATES_MISTAKES] = {
        "the gradients of frozen parameters are counted: they have none",
        "the moments of frozen parameters are counted: they have none",
        "the adapters are not counted among the weights",
        "the frozen weights are not counted: they are still there",
        "with weights in half, what is trained has a master in float",
        "frozen weights need no master: nothing updates them"};
    uint64_t right[MEMORY_KINDS], wrong[STATES_MISTAKES][MEMORY_KINDS];
    MemoryUse use = counted_states(config);
    size_t r = precision_bytes(config->precision), trained = use.bytes[MEMORY_GRADIENTS] / 4;
    size_t base = use.bytes[MEMORY_WEIGHTS] / r - trained;
    kinds_of(right, use);
    for (int m = 0; m < STATES_MISTAKES; m++) {
        kinds_of(wrong[m], use);
    }
    size_t states = config->precision == F32 ? 8 : 12;
    wrong[0][MEMORY_GRADIENTS] += 4 * base;
    wrong[1][MEMORY_OPTIMIZER] += states * base;
    wrong[2][MEMORY_WEIGHTS] -= r * trained;
    wrong[3][MEMORY_WEIGHTS] -= r * base;
    wrong[4][MEMORY_OPTIMIZER] = 8 * trained;
    wrong[5][MEMORY_OPTIMIZER] += 4 * base;
    ExactSuspect suspects[STATES_MISTAKES];
    for (int m = 0; m < STATES_MISTAKES; m++) {
        suspects[m] = (ExactSuspect){sentences[m], wrong[m]};
    }
    check_equal_of(check, name, states_label, right, MEMORY_KINDS, suspects, STATES_MISTAKES);
}

void sizes_expect_dropped(Check *check, const char *name, const ModelConfig *config) {
    uint64_t right = counted_dropped(config), targets = config->adapter.targets;
    uint64_t none = 0, kept = targets, flash = ~targets & TARGET_ALL;
    uint64_t always = right & ~(uint64_t)TARGET_PROJ;
    ExactSuspect suspects[] = {
        {"nothing is dropped", &none},
        {"these are the inputs that adapters need; the others can go", &kept},
        {"flash attention's backward reads the output of attention: it has to stay", &flash},
        {"with plain attention no backward reads the output of attention but its projection's",
         &always}};
    check_equal(check, name, &right, 1, suspects, 4);
}

enum { BYTES_MISTAKES = 5 };

static void expect_activations(Check *check, const char *name, const Shape *s) {
    static const char *const sentences[BYTES_MISTAKES] = {
        "the inputs that nobody reads are counted: lora_dropped() says which can go",
        "the scratch of the adapters in backward is not counted",
        "the copy of the input under the mask is not counted",
        "these are the bytes of a step without checkpointing",
        "an int holds no more than 2^31 - 1: bytes are counted in size_t"};
    ModelConfig unmasked = s->config;
    unsigned drop = counted_dropped(&s->config);
    unmasked.adapter.dropout = 0;
    uint64_t right = counted_activations(&s->config, s->B, s->T, s->checkpoint, drop);
    uint64_t wrong[BYTES_MISTAKES] = {
        counted_activations(&s->config, s->B, s->T, s->checkpoint, 0), 0,
        counted_activations(&unmasked, s->B, s->T, s->checkpoint, drop),
        counted_activations(&s->config, s->B, s->T, (Checkpoint){0}, drop),
        (uint64_t)(int32_t)right};
    ModelConfig thin = unmasked; /* the least scratch that an adapter takes */
    thin.adapter.rank = 1;
    wrong[1] = counted_activations(&thin, s->B, s->T, s->checkpoint, drop);
    ExactSuspect suspects[BYTES_MISTAKES];
    for (int m = 0; m < BYTES_MISTAKES; m++) {
        suspects[m] = (ExactSuspect){sentences[m], &wrong[m]};
    }
    check_equal(check, name, &right, 1, suspects, BYTES_MISTAKES);
}

void sizes_ask_activations(Check *check, bool checkpointed) {
    Quiz quiz = {.check = check, .numbers = 1};
    for (int i = 0; i < 14; i++) {
        Shape shape = {.config =
                           sizes_config(check, (Precision)(i % 3), (Attention)(i / 2 % 2), i % 2),
                       .B = 1 + i};
        shape.T = check_int(check, 11, shape.config.T);
        if (i < 8) {
            shape.config.adapter.targets = 1u << i / 2;
        }
        if (i > 9) { /* wider than the head's rows: one layer's scratch decides */
            shape.config.C = 32 * shape.config.NH;
            shape.config.adapter.rank = 4 * shape.config.C;
            shape.config.adapter.targets = 1u << (i - 10);
        }
        if (checkpointed) {
            /* probabilities alone; segments, also with what flash attention does not know */
            int segment = check_int(check, 1, 3);
            shape.checkpoint = (Checkpoint){i % 8 == 4 ? 0 : segment, i % 2 == 0};
        }
        quiz_add(&quiz, shape);
    }
    /* More bytes, and more numbers, than an int can say: the head decides, then a block. */
    for (int i = 0; i < 2; i++) {
        Shape large = {.config = sizes_config(check, F32, ATTENTION_PLAIN, false),
                       .B = 99999999,
                       .T = 20,
                       .checkpoint = {checkpointed ? 2 : 0, checkpointed}};
        large.config.V = i == 0 ? 50257 : 256;
        large.config.C = large.config.NH * (i == 0 ? 16 : 128);
        quiz_add(&quiz, large);
    }
    sizes_give_adapters(&quiz);
    if (quiz_run(&quiz, "formulas/activations", SECONDS)) {
        for (int i = 0; i < quiz.count; i++) {
            expect_activations(check, quiz.name[i], &quiz.shape[i]);
        }
    }
}
