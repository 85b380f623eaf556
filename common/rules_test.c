#include "common/rules.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/scratch.h"
#include "common/trainer.h"
#include "common/weights.h"
#include "labs/07_optimizers/contract.h"

static const AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f};

static Codebooks codebooks(void) {
    Codebooks books;
    codebook_signed(books.m);
    codebook_unsigned(books.v);
    return books;
}

static size_t counted(const ModelConfig *config, Optim optim, size_t kind) {
    Codebooks books = codebooks();
    Device *device = device_cpu_new((size_t)1 << 30);
    Trainer way = {.rule = rule_of(optim, &books)};
    MemoryUse peak;
    trainer_measure_as(&way, config, (Checkpoint){0}, 1, 4, device, &peak);
    device_free(device);
    return peak.bytes[kind];
}

/* Vectors and matrices on both sides of ADAM8_LEAST, with a last block that is not full. */
static const ModelConfig configs[] = {
    {.V = 256, .T = 128, .L = 4, .NH = 4, .C = 128}, {.V = 300, .T = 7, .L = 2, .NH = 3, .C = 33},
    {.V = 257, .T = 5, .L = 1, .NH = 1, .C = 15},    {.V = 256, .T = 4, .L = 1, .NH = 1, .C = 1},
    {.V = 256, .T = 4, .L = 1, .NH = 1, .C = 1031},
};

Test(rules, states_are_counted_as_predicted) {
    for (size_t c = 0; c < sizeof configs / sizeof *configs; c++) {
        for (Precision precision = F32; precision <= BF16; precision++) {
            for (Optim optim = OPTIM_ADAMW; optim <= OPTIM_ADAMW_8BIT; optim++) {
                ModelConfig config = configs[c];
                config.precision = precision;
                cr_assert_eq(counted(&config, optim, MEMORY_OPTIMIZER), optim_bytes(&config, optim),
                             "config %zu, %s, %s", c, precision_name(precision), optim_name(optim));
            }
        }
    }
}

Test(rules, bytes_of_the_default_model) {
    cr_assert_eq(counted(&configs[0], OPTIM_ADAMW, MEMORY_OPTIMIZER), 6739968);
    cr_assert_eq(counted(&configs[0], OPTIM_ADAMW_8BIT, MEMORY_OPTIMIZER), 1752576);
    cr_assert_eq(counted(&configs[0], OPTIM_ADAFACTOR, MEMORY_OPTIMIZER), 62976);
}

Test(rules, the_workspace_is_the_same) {
    size_t bytes = counted(&configs[1], OPTIM_ADAMW, MEMORY_WORKSPACE);
    cr_assert_eq(counted(&configs[1], OPTIM_ADAMW_8BIT, MEMORY_WORKSPACE), bytes);
    cr_assert_eq(counted(&configs[1], OPTIM_ADAFACTOR, MEMORY_WORKSPACE), bytes);
}

/* ---- files ----------------------------------------------------------------------------------- */

static Device *device;
static Memory *memory;
static Model *model;
static Codebooks books;

static void open_model(void) {
    device = device_cpu_new(256 << 20);
    memory = memory_new(device, (MemoryOptions){.checked = true});
    model = model_new(&configs[1], memory, 1);
    books = codebooks();
}

static void close_model(void) {
    model_free(model);
    memory_free(memory);
    device_free(device);
    scratch_remove();
}

static Optimizer *stepped(Optim optim, int steps) {
    Optimizer *optimizer = optimizer_new_as(model, adamw, rule_of(optim, &books));
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < model->param_count; i++) {
            for (size_t j = 0; j < model->params[i].count; j++) {
                model->params[i].grad[j] = (float)((i + t) * 31 + (int)(j % 97) - 40) / 50;
            }
        }
        optimizer_step(optimizer, 1e-3f);
    }
    return optimizer;
}

Test(rules, states_come_back, .init = open_model, .fini = close_model) {
    for (Optim optim = OPTIM_ADAMW; optim <= OPTIM_ADAMW_8BIT; optim++) {
        Optimizer *a = stepped(optim, 3), *b = stepped(optim, 1);
        const char *path = scratch_path("optimizer.safetensors");
        cr_assert_eq(optimizer_save(a, path), 0);
        cr_assert_eq(optimizer_load(b, path), 0);
        cr_assert(b->t == 3 && a->state_count == b->state_count && a->state_count > 0);
        for (int i = 0; i < a->state_count; i++) {
            const OptimizerState *x = &a->states[i], *y = &b->states[i];
            cr_assert_str_eq(x->name, y->name);
            cr_assert(x->count == y->count && memcmp(x->data, y->data, x->count * x->size) == 0,
                      "%s of %s", x->name, model->params[x->param].name);
        }
        optimizer_free(a);
        optimizer_free(b);
    }
}

Test(rules, states_of_another_optimizer_are_refused, .init = open_model, .fini = close_model) {
    for (Optim saved = OPTIM_ADAMW; saved <= OPTIM_ADAMW_8BIT; saved++) {
        Optimizer *a = stepped(saved, 1);
        const char *path = scratch_path("optimizer.safetensors");
        cr_assert_eq(optimizer_save(a, path), 0);
        for (Optim optim = OPTIM_ADAMW; optim <= OPTIM_ADAMW_8BIT; optim++) {
            Optimizer *b = stepped(optim, 0);
            cr_assert_eq(optimizer_load(b, path), optim == saved ? 0 : -1);
            optimizer_free(b);
        }
        optimizer_free(a);
    }
}

/* A part of a model has states for what is here, and its update touches nothing else. */
Test(rules, a_parameter_that_is_not_here_has_no_state, .init = open_model, .fini = close_model) {
    ModelPart part = model_whole(&configs[1]);
    part.first = 1;
    part.embedding = false;
    Model *stage = model_new_part(&configs[1], &part, memory, 1);
    for (Optim optim = OPTIM_ADAFACTOR; optim <= OPTIM_ADAMW_8BIT; optim++) {
        Optimizer *optimizer = optimizer_new_as(stage, adamw, rule_of(optim, &books));
        for (int i = 0; i < optimizer->state_count; i++) {
            cr_assert_not_null(stage->params[optimizer->states[i].param].weight);
        }
        optimizer_step(optimizer, 1e-3f);
        optimizer_free(optimizer);
    }
    model_free(stage);
}
