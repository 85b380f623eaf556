/* Blocks of a pass as a model by themselves, against the whole: on the CPU and on the simulated
   GPU. */
#include "common/range.h"

#include <criterion/criterion.h>

#include "common/testkit/parts.h"

enum { L = PARTS_L };

/* Block 0 by itself, then the others as a range, and the same way back. @return the loss */
static double through_range(Model *model, const Batch *batch) {
    Pass *pass = &model->pass;
    pass_begin(pass, batch, true);
    Real *x = model_forward_blocks(pass, 0, 1, pass_embed(pass));
    Model *range = range_open(pass, 1, L, x);
    cr_assert_eq(model_forward(range, batch), 0, "a range has no loss");
    model->rng = range->rng;
    Real *out = range->pass.x[L - 1];
    double loss = pass_head_forward(pass, out);
    pass_head_backward(pass, out, PARTS_SHARE);
    model_backward(range, 0);
    cr_assert_eq(range->block_forwards, L - 1);
    range_close(range);
    model_backward_blocks(pass, 0, 1, pass->dx);
    pass_embed_backward(pass);
    pass_end(pass);
    return loss;
}

Test(range, has_the_bits_of_the_whole) {
    for (int cell = 0; cell < 6; cell++) {
        ModelConfig config = parts_config((Precision)(cell % 3), (Attention)(cell / 3));
        for (int gpu = 0; gpu < 2; gpu++) {
            PartBench bench = bench_on(gpu);
            Model *whole = bench_model(&bench, &config), *model = bench_model(&bench, &config);
            double want = passes_in_turn(whole, 2), got = 0;
            for (int micro = 0; micro < 2; micro++) {
                Batch batch = parts_batch(micro);
                batch.on_device = false;
                got += through_range(model, &batch);
            }
            cr_assert_eq(got, want);
            cr_assert_eq(model->rng.offset, whole->rng.offset);
            expect_same_gradients(model, whole);
            bench_close(&bench);
        }
    }
}

/* The input, and the gradient, are those of the pass around it. */
Test(range, allocates_what_its_blocks_keep_and_nothing_else) {
    ModelConfig config = parts_config(F32, ATTENTION_PLAIN);
    PartBench bench = bench_on(false);
    Model *model = bench_model(&bench, &config);
    Batch batch = parts_batch(0), shape = {.B = batch.B, .T = batch.T, .on_device = true};
    pass_begin(&model->pass, &batch, true);
    Real *x = pass_embed(&model->pass);
    MemoryUse before = memory_now(model->memory);
    model_forward_blocks(&model->pass, 0, L, x);
    MemoryUse kept = memory_now(model->memory);
    memory_release(model->memory, model->pass.marks[0]);
    Model *range = range_open(&model->pass, 0, L, x);
    model_forward(range, &shape);
    MemoryUse got = memory_now(model->memory);
    cr_assert_eq(memory_total(&got), memory_total(&kept));
    model_end(range);
    range_close(range);
    got = memory_now(model->memory);
    cr_assert_eq(memory_total(&got), memory_total(&before));
    model_end(model);
    bench_close(&bench);
}
