/* Absent weights and shared blocks against the whole model, on the CPU and on the simulated GPU. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/block.h"
#include "common/testkit/compare.h"
#include "common/testkit/ending.h"
#include "common/testkit/parts.h"

enum { B = PARTS_B, T = PARTS_T, L = PARTS_L, NH = PARTS_NH, C = PARTS_C };

/* ---- absent weights ------------------------------------------------------------------------- */

/* A block's weights, or those outside of blocks, for as long as they are needed: in a lane. */
static MemoryMark gather(Model *model, const Model *owner, int layer) {
    Memory *lane = memory_lane(model->memory, "gathered");
    MemoryMark mark = memory_mark(lane);
    Real *weights[BLOCK_PARAMS];
    int count = layer < 0 ? MODEL_PARAMS : BLOCK_PARAMS;
    const Param *from = layer < 0 ? owner->params : model_block_params(owner, layer);
    for (int i = 0; i < count; i++) {
        size_t bytes = from[i].count * precision_bytes(model->config.precision);
        weights[i] = memory_alloc(lane, MEMORY_WEIGHTS, from[i].name, layer, bytes);
        hand_on(owner, from[i].weight, model, weights[i], bytes);
    }
    model_put_weights(model, layer, weights);
    return mark;
}

static void let_go(Model *model, int layer, MemoryMark mark) {
    model_put_weights(model, layer, NULL);
    memory_release(memory_lane(model->memory, "gathered"), mark);
}

/* Each block's weights are here while it runs, forward and backward, and no longer. */
static double gathered_pass(Model *model, const Model *owner, int micro) {
    Batch batch = parts_batch(micro);
    Pass *pass = &model->pass;
    MemoryMark mark = gather(model, owner, -1);
    pass_begin(pass, &batch, true);
    Real *x = pass_embed(pass);
    for (int layer = 0; layer < L; layer++) {
        MemoryMark above = gather(model, owner, layer);
        x = model_forward_blocks(pass, layer, layer + 1, x);
        let_go(model, layer, above);
    }
    double loss = pass_head_forward(pass, x);
    pass_head_backward(pass, x, PARTS_SHARE);
    for (int layer = L - 1; layer >= 0; layer--) {
        MemoryMark above = gather(model, owner, layer);
        model_backward_blocks(pass, layer, layer + 1, pass->dx);
        let_go(model, layer, above);
    }
    pass_embed_backward(pass);
    pass_end(pass);
    let_go(model, -1, mark);
    return loss;
}

Test(part, gathered_weights_have_the_bits_of_those_that_stay) {
    for (int gpu = 0; gpu < 2; gpu++) {
        ModelConfig config = parts_config(gpu ? F16 : F32, ATTENTION_PLAIN);
        PartBench bench = bench_on(gpu);
        Model *whole = bench_model(&bench, &config);
        double want = passes_in_turn(whole, 2);
        ModelPart part = model_whole(&config);
        part.weights = false;
        Model *model = bench_part(&bench, &config, part);
        model_init_weights(model, PARTS_SEED); /* there is nothing to fill */
        cr_assert_eq(gathered_pass(model, whole, 0) + gathered_pass(model, whole, 1), want);
        expect_same_gradients(model, whole);
        cr_assert_null(model_block_params(model, 0)[QKV_WEIGHT].weight);
        size_t block = elements_of(model_block_params(model, 0), 0, BLOCK_PARAMS);
        size_t outside = elements_of(model->params, 0, MODEL_PARAMS);
        cr_assert_eq(memory_lane_peak(memory_lane(model->memory, "gathered")),
                     (block + outside) * precision_bytes(config.precision));
        bench_close(&bench);
    }
}

Test(part, gathered_gradients_have_the_bits_of_those_that_stay) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    Model *whole = bench_model(&bench, &config);
    double want = passes_in_turn(whole, 1);
    ModelPart part = model_whole(&config);
    part.grads = false;
    Model *model = bench_part(&bench, &config, part);
    model_init_weights(model, PARTS_SEED);
    cr_assert_eq(model->grads.n, 0);
    Memory *lane = memory_lane(model->memory, "gradients");
    for (int layer = -1; layer < L; layer++) {
        const Param *params = layer < 0 ? model->params : model_block_params(model, layer);
        float *grads[BLOCK_PARAMS];
        for (int i = 0; i < (layer < 0 ? MODEL_PARAMS : BLOCK_PARAMS); i++) {
            grads[i] = memory_alloc_zero(lane, MEMORY_GRADIENTS, params[i].name, layer,
                                         params[i].count * sizeof(float));
        }
        model_put_grads(model, layer, grads);
    }
    cr_assert_eq(passes_in_turn(model, 1), want);
    expect_same_gradients(model, whole);
    model_put_grads(model, 0, NULL);
    cr_assert_null(model_block_params(model, 0)[QKV_WEIGHT].grad);
    bench_close(&bench);
}

static void use_absent_weights(void) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    ModelPart part = model_whole(&config);
    part.weights = false;
    Model *owner = bench_model(&bench, &config), *model = bench_part(&bench, &config, part);
    gather(model, owner, -1);
    for (int layer = 0; layer < L; layer++) {
        gather(model, owner, layer);
    }
    model_block_params(model, 2)[FC_WEIGHT].weight = NULL;
    Batch batch = parts_batch(0);
    model_forward(model, &batch);
}

static void use_absent_gradients(void) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    ModelPart part = model_whole(&config);
    part.grads = false;
    passes_in_turn(bench_part(&bench, &config, part), 1);
}

static void put_weights_over_weights(void) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    Model *owner = bench_model(&bench, &config);
    gather(bench_model(&bench, &config), owner, 0);
}

Test(part, what_is_absent_is_named) {
    expect_ending(use_absent_weights, -SIGABRT, "\"mlp.c_fc.weight\" of layer 2 is not here");
    expect_ending(use_absent_gradients, -SIGABRT,
                  "the gradient of \"wte.weight\" of layer -1 is not here");
    expect_ending(put_weights_over_weights, -SIGABRT, "the model has weights of its own");
}

/* ---- shared blocks -------------------------------------------------------------------------- */

static ModelPart shard_of(const ModelConfig *config, int shards, int shard) {
    ModelPart part = model_whole(config);
    part.shards = shards;
    part.shard = shard;
    return part;
}

/* Of the 15 C numbers a token that a block keeps, 12 C are split, and the probabilities. */
Test(part, a_shard_has_its_heads_and_columns_and_no_more) {
    for (int shards = 1; shards <= NH; shards *= 2) {
        ModelConfig config = parts_config(BF16, ATTENTION_PLAIN);
        PartBench bench = bench_on(false);
        Model *model = bench_part(&bench, &config, shard_of(&config, shards, shards - 1));
        const Param *p = model_block_params(model, 1);
        size_t S = (size_t)shards, N = (size_t)B * T;
        static const int divided[][2] = {{QKV_WEIGHT, 3 * C * C}, {QKV_BIAS, 3 * C},
                                         {PROJ_WEIGHT, C * C},    {FC_WEIGHT, 4 * C * C},
                                         {FC_BIAS, 4 * C},        {FCPROJ_WEIGHT, 4 * C * C}};
        for (size_t i = 0; i < sizeof divided / sizeof *divided; i++) {
            cr_assert_eq(p[divided[i][0]].count, (size_t)divided[i][1] / S);
        }
        cr_assert_eq(p[PROJ_BIAS].count, C);
        cr_assert_eq(p[FCPROJ_BIAS].count, C);
        cr_assert_eq(p[LN2_WEIGHT].count, C);
        BlockSize size = block_size(model, 1);
        cr_assert_eq(size.heads, NH / shards);
        cr_assert_eq(size.A, C / shards);
        cr_assert_eq(size.F, 4 * C / shards);
        Batch batch = parts_batch(0);
        pass_begin(&model->pass, &batch, false);
        size_t before = memory_lane_now(model->memory);
        pass_block_alloc(&model->pass, 1);
        cr_assert_eq(memory_lane_now(model->memory) - before,
                     N * (2 * (3 * C + 12 * C / S + NH * T / S) + 4 * sizeof(float)));
        pass_end(&model->pass);
        bench_close(&bench);
    }
}

static void share_with_nobody(void) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    passes_in_turn(bench_part(&bench, &config, shard_of(&config, 2, 0)), 1);
}

static void share_three_ways(void) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    bench_part(&bench, &config, shard_of(&config, 3, 0));
}

Test(part, a_shard_needs_the_others) {
    expect_ending(share_with_nobody, -SIGABRT, "each of 2 ranks has a part of the block");
    expect_ending(share_three_ways, -SIGABRT, "4 heads in 3 shards");
}
