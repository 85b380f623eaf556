/* Several passes in flight, and the stages of a pipeline, each against one pass over the whole
   model: on the CPU and on the simulated GPU. */
#include "common/pass.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>

#include "common/optimizer.h"
#include "common/testkit/ending.h"
#include "common/testkit/parts.h"

enum { L = PARTS_L };

/* ---- several passes ------------------------------------------------------------------------- */

static const char *const lane_name[PARTS_MICRO] = {"micro-batch 0", "micro-batch 1",
                                                   "micro-batch 2"};

/* Forward 0 1, backward 0, forward 2, backward 1 2: not the order of one stack. */
static double interleaved(Model *model) {
    Pass pass[PARTS_MICRO];
    double loss = 0;
    MemoryUse before = memory_now(model->memory);
    for (int micro = 0; micro < PARTS_MICRO; micro++) {
        pass[micro] = pass_new(model, memory_lane(model->memory, lane_name[micro]), NULL);
    }
    static const int order[] = {0, 1, -1, 2, -2, -3};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        int micro = order[i] < 0 ? -1 - order[i] : order[i];
        Batch batch = parts_batch(micro);
        if (order[i] < 0) {
            pass_backward(&pass[micro], PARTS_SHARE);
        } else {
            loss += pass_forward(&pass[micro], &batch);
        }
    }
    for (int micro = 0; micro < PARTS_MICRO; micro++) {
        pass_free(&pass[micro]);
    }
    MemoryUse after = memory_now(model->memory);
    cr_assert_eq(memory_total(&after), memory_total(&before), "passes have left tensors behind");
    return loss;
}

Test(pass, several_in_flight_have_the_bits_of_one_after_the_other) {
    for (int cell = 0; cell < 6; cell++) {
        ModelConfig config = parts_config((Precision)(cell % 3), (Attention)(cell / 3));
        for (int gpu = 0; gpu < (cell == 0 || cell == 5 ? 2 : 1); gpu++) {
            PartBench bench = bench_on(gpu);
            double want = passes_in_turn(bench_model(&bench, &config), PARTS_MICRO);
            double got = interleaved(bench_model(&bench, &config));
            cr_assert_eq(got, want);
            expect_same_gradients(bench.model[1], bench.model[0]);
            bench_close(&bench);
        }
    }
}

/* Two in flight, and at the peak one of them in its backward: to the byte. */
Test(pass, two_in_flight_have_the_bytes_of_two) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    Model *model = bench_model(&bench, &config);
    MemoryUse rest = memory_now(model->memory);
    Batch batch = parts_batch(0);
    model_forward(model, &batch);
    MemoryUse held = memory_now(model->memory);
    model_backward(model, 1);
    MemoryUse one = memory_peak(model->memory);
    memory_peak_reset(model->memory);
    interleaved(model);
    MemoryUse two = memory_peak(model->memory);
    cr_assert_eq(memory_total(&two),
                 memory_total(&one) + memory_total(&held) - memory_total(&rest));
    for (int micro = 0; micro < PARTS_MICRO; micro++) {
        Memory *lane = memory_lane(model->memory, lane_name[micro]);
        cr_assert_eq(memory_lane_peak(lane), memory_total(&one) - memory_total(&rest));
    }
    bench_close(&bench);
}

/* With a stream of its own a pass has the same masks whenever it runs. */
Test(pass, a_stream_of_its_own_is_drawn_from) {
    ModelConfig config = parts_config(F32, ATTENTION_FLASH);
    PartBench bench = bench_on(false);
    Model *whole = bench_model(&bench, &config);
    double want = passes_in_turn(whole, 2);
    Model *model = bench_model(&bench, &config);
    Rng rng[2] = {rng_new(PARTS_SEED, RNG_DROPOUT), rng_new(PARTS_SEED, RNG_DROPOUT)};
    rng_take(&rng[1], whole->rng.offset / 2);
    Pass pass[2];
    double loss = 0;
    for (int micro = 1; micro >= 0; micro--) {
        Batch batch = parts_batch(micro);
        pass[micro] = pass_new(model, memory_lane(model->memory, lane_name[micro]), &rng[micro]);
        loss += pass_forward(&pass[micro], &batch);
    }
    for (int micro = 0; micro < 2; micro++) {
        pass_backward(&pass[micro], PARTS_SHARE);
        pass_free(&pass[micro]);
    }
    cr_assert_float_eq(loss, want, 1e-12 * want); /* summed in another order */
    cr_assert_eq(model->rng.offset, 0);
    cr_assert_eq(rng[1].offset, whole->rng.offset);
    expect_same_gradients(model, whole);
    bench_close(&bench);
}

Test(pass, evaluation_beside_a_pass_leaves_no_trace) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    passes_in_turn(bench_model(&bench, &config), 1);
    Model *model = bench_model(&bench, &config);
    Batch batch = parts_batch(0), other = parts_batch(1);
    Pass look = pass_new(model, model->memory, NULL);
    double alone = pass_evaluate(&look, &other);
    model_forward(model, &batch);
    cr_assert_eq(pass_evaluate(&look, &other), alone);
    model_backward(model, PARTS_SHARE);
    pass_free(&look);
    expect_same_gradients(model, bench.model[0]);
    bench_close(&bench);
}

static void two_on_one_stack(void) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    Model *model = bench_model(&bench, &config);
    Batch batch = parts_batch(0);
    Pass other = pass_new(model, model->memory, NULL);
    model_forward(model, &batch);
    pass_forward(&other, &batch);
    model_backward(model, 1);
}

Test(pass, two_on_one_stack_are_a_bug) {
    expect_ending(two_on_one_stack, -SIGABRT, "each needs a lane");
}

/* ---- stages --------------------------------------------------------------------------------- */

/* Both stages of one micro-batch. The second gives the gradient of the tied embedding first, since
   the whole model adds that of the head before that of the embedding. */
static double by_two_stages(Model *const stage[2], Pass pass[2], int cut, int micro) {
    Batch batch = parts_batch(micro), with_tokens = batch, with_targets = batch;
    with_tokens.targets = NULL;
    with_targets.tokens = NULL;
    size_t bytes =
        (size_t)PARTS_B * PARTS_T * PARTS_C * precision_bytes(stage[0]->config.precision);

    pass_begin(&pass[0], &with_tokens, true);
    Real *out = model_forward_blocks(&pass[0], 0, cut, pass_embed(&pass[0]));
    if (stage[0] != stage[1]) {
        pass_skip_masks(&pass[0], 2 * (L - cut));
    }
    pass_begin(&pass[1], &with_targets, true);
    Real *in = pass_boundary(&pass[1], cut - 1);
    hand_on(stage[0], out, stage[1], in, bytes);
    if (stage[0] != stage[1]) {
        pass_skip_masks(&pass[1], 1 + 2 * cut);
    }
    Real *last = model_forward_blocks(&pass[1], cut, L, in);
    double loss = pass_head_forward(&pass[1], last);

    Param *wte[2] = {&stage[0]->params[WTE], &stage[1]->params[WTE]};
    if (stage[0] != stage[1]) {
        hand_on(stage[0], wte[0]->grad, stage[1], wte[1]->grad, wte[0]->count * sizeof(float));
    }
    pass_head_backward(&pass[1], last, PARTS_SHARE);
    model_backward_blocks(&pass[1], cut, L, pass[1].dx);
    hand_on(stage[1], pass[1].dx, stage[0], pass[0].dx, bytes);
    pass_end(&pass[1]);
    model_backward_blocks(&pass[0], 0, cut, pass[0].dx);
    if (stage[0] != stage[1]) {
        hand_on(stage[1], wte[1]->grad, stage[0], wte[0]->grad, wte[0]->count * sizeof(float));
    }
    pass_embed_backward(&pass[0]);
    pass_end(&pass[0]);
    return loss;
}

static double pipeline(Model *const stage[2], int cut, int count) {
    Pass pass[2] = {pass_new(stage[0], memory_lane(stage[0]->memory, "first"), NULL),
                    pass_new(stage[1], memory_lane(stage[1]->memory, "second"), NULL)};
    double loss = 0;
    for (int micro = 0; micro < count; micro++) {
        loss += by_two_stages(stage, pass, cut, micro);
    }
    pass_free(&pass[0]);
    pass_free(&pass[1]);
    return loss;
}

Test(pass, two_ranges_of_blocks_have_the_bits_of_the_whole) {
    for (int gpu = 0; gpu < 2; gpu++) {
        ModelConfig config = parts_config(gpu ? BF16 : F32, ATTENTION_PLAIN);
        for (int cut = 0; cut <= L; cut += gpu ? L - 1 : 1) {
            PartBench bench = bench_on(gpu);
            double want = passes_in_turn(bench_model(&bench, &config), 1);
            Model *model = bench_model(&bench, &config), *const both[2] = {model, model};
            cr_assert_eq(pipeline(both, cut, 1), want);
            expect_same_gradients(model, bench.model[0]);
            bench_close(&bench);
        }
    }
}

static ModelPart stage_of(const ModelConfig *config, int first, int last) {
    ModelPart part = model_whole(config);
    part.first = first;
    part.last = last;
    part.embedding = first == 0;
    part.head = last == L;
    return part;
}

/* Every stage draws the masks of the whole, and starts with its weights. */
Test(pass, two_stages_with_their_own_parts_have_the_bits_of_the_whole) {
    for (int gpu = 0; gpu < 2; gpu++) {
        for (int cut = 1; cut < L; cut++) {
            ModelConfig config = parts_config(F32, ATTENTION_FLASH);
            PartBench bench = bench_on(gpu), halves = bench_on(gpu);
            Model *whole = bench_model(&bench, &config);
            double want = passes_in_turn(whole, 2);
            Model *first = bench_part(&halves, &config, stage_of(&config, 0, cut));
            Model *second = bench_part(&halves, &config, stage_of(&config, cut, L));
            model_init_weights(first, PARTS_SEED);
            model_init_weights(second, PARTS_SEED);
            cr_assert_eq(pipeline(halves.model, cut, 2), want);
            cr_assert_eq(first->rng.offset, whole->rng.offset);
            cr_assert_eq(second->rng.offset, whole->rng.offset);
            expect_same_gradients(first, whole);
            /* the tied embedding is on both, and the first has its whole gradient */
            const Param *wte = &first->params[WTE];
            hand_on(first, wte->grad, second, second->params[WTE].grad, wte->count * sizeof(float));
            expect_same_gradients(second, whole);
            bench_close(&halves);
            bench_close(&bench);
        }
    }
}

Test(pass, a_stage_has_the_bytes_of_its_own_parameters) {
    ModelConfig config = parts_config(BF16, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    Model *model = bench_part(&bench, &config, stage_of(&config, 1, L));
    Optimizer *optimizer = optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f});
    const Param *params = model->params;
    size_t own = params[WTE].count + params[LNF_WEIGHT].count + params[LNF_BIAS].count +
                 elements_of(params, MODEL_PARAMS + BLOCK_PARAMS, model->param_count);
    MemoryUse now = memory_now(model->memory);
    cr_assert_eq(now.bytes[MEMORY_WEIGHTS], 2 * own);
    cr_assert_eq(now.bytes[MEMORY_GRADIENTS], 4 * own);
    cr_assert_eq(now.bytes[MEMORY_OPTIMIZER], 12 * own);
    cr_assert_null(params[WPE].weight);
    cr_assert_null(params[MODEL_PARAMS].grad);
    cr_assert_eq(model->grads.n, own);
    cr_assert_eq(model_grad_norm(model), 0.0f);
    model_zero_grad(model);
    optimizer_step(optimizer, 0.1f);
    optimizer_free(optimizer);
    bench_close(&bench);
}

static void run_a_foreign_block(void) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    Model *model = bench_part(&bench, &config, stage_of(&config, 0, 1));
    Batch batch = parts_batch(0);
    pass_begin(&model->pass, &batch, true);
    model_forward_blocks(&model->pass, 1, 2, pass_embed(&model->pass));
}

static void embed_without_tokens(void) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    Model *model = bench_model(&bench, &config);
    Batch batch = parts_batch(0);
    batch.tokens = NULL;
    model_forward(model, &batch);
}

static void lose_without_targets(void) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    Model *model = bench_model(&bench, &config);
    Batch batch = parts_batch(0);
    batch.targets = NULL;
    model_forward(model, &batch);
}

static void run_blocks_that_no_model_has(void) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    Model *model = bench_model(&bench, &config);
    Batch batch = parts_batch(0);
    pass_begin(&model->pass, &batch, true);
    model_forward_blocks(&model->pass, 1, L + 1, pass_embed(&model->pass));
}

Test(pass, what_a_stage_does_not_have_it_cannot_run) {
    expect_ending(run_a_foreign_block, -SIGABRT,
                  "of layer 1 is not here: model_put_weights() comes first");
    expect_ending(embed_without_tokens, -SIGABRT, "the embedding needs tokens");
    expect_ending(lose_without_targets, -SIGABRT, "the head needs targets");
    expect_ending(run_blocks_that_no_model_has, -SIGABRT, "blocks 1 to 4, the model has 3");
}
