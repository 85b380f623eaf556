/* The solution of lab 14 on ranks of this process: slices of a model against the whole. */
#include <criterion/criterion.h>
#include <cudasim_nccl.h>
#include <cudasim_ranks.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/compare.h"
#include "common/testkit/fixture.h"
#include "common/testkit/parts.h"
#include "train/tensor.h"

enum { MOST_RANKS = 4, PASSES = 2 };

/* The results of all ranks, in memory from before them. */
typedef struct Findings {
    ModelConfig config;
    bool gpu;
    int ranks;
    const float *weights; /* of the whole, one parameter after the other */
    double loss[MOST_RANKS], wire[MOST_RANKS];
    float norm[MOST_RANKS];
    float **grads[MOST_RANKS];  /* of the slice: each parameter's */
    size_t *counts[MOST_RANKS]; /* and its numbers */
} Findings;

static size_t numbers_in(const Param *params, int count) {
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        n += params[i].count;
    }
    return n;
}

static TensorGroup group_of(Comm *comm) {
    return (TensorGroup){.comm = comm_nccl(comm), .size = comm_size(comm), .rank = comm_rank(comm)};
}

static void cut_whole(Model *model, const TensorGroup *group, const float *whole) {
    int count = params_count(&model->config);
    Param *of_whole = calloc((size_t)count, sizeof *of_whole);
    params_describe(of_whole, &model->config);
    for (int i = 0; i < count; i++) {
        float *slice = malloc(model->params[i].count * sizeof *slice);
        slice_cut(slice, whole, &model->config, i, group->size, group->rank);
        model_upload_weight(model, &model->params[i], slice);
        whole += of_whole[i].count;
        free(slice);
    }
    free(of_whole);
}

static void rank_passes(int number, void *context) {
    Findings *found = context;
    Comm *comm = comm_open();
    PartBench bench = bench_on(found->gpu);
    comm_connect(comm, bench.device);
    TensorGroup group = group_of(comm);
    Model *model =
        bench_part(&bench, &found->config, tensor_part(&found->config, group.size, group.rank));
    tensor_set(model, &group);
    cut_whole(model, &group, found->weights);
    double before = cudasim_wire_bytes(number);
    found->loss[number] = passes_in_turn(model, PASSES);
    device_synchronize(bench.device);
    found->wire[number] = cudasim_wire_bytes(number) - before;
    found->norm[number] = model_grad_norm(model);
    found->grads[number] = calloc((size_t)model->param_count, sizeof *found->grads[number]);
    found->counts[number] = calloc((size_t)model->param_count, sizeof *found->counts[number]);
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        found->grads[number][i] = numbers_of(model, param->grad, param->count);
        found->counts[number][i] = param->count;
    }
    bench_close(&bench);
    comm_close(comm);
}

/* Biases of a fresh model are zero: added R times they would not show. */
static float *draw_weights(Model *model) {
    Rng rng = rng_new(5, RNG_WEIGHTS);
    float *all = malloc(numbers_in(model->params, model->param_count) * sizeof *all), *to = all;
    for (int i = 0; i < model->param_count; i++) {
        Param *param = &model->params[i];
        if (param->init == INIT_ZERO) {
            rng_normal(&rng, to, param->count, 0.1f);
            model_upload_weight(model, param, to);
        }
        model_download_weight(model, param, to);
        to += param->count;
    }
    return all;
}

static void expect_gradient(const Findings *found, const Model *whole, int at) {
    const Param *param = &whole->params[at];
    float *joined = malloc(param->count * sizeof *joined);
    float *right = numbers_of(whole, param->grad, param->count);
    double *want = malloc(param->count * sizeof *want);
    for (int rank = 0; rank < found->ranks; rank++) {
        slice_join(joined, found->grads[rank][at], &found->config, at, found->ranks, rank);
        if (found->counts[rank][at] == param->count) { /* whole on each rank: the same bits */
            cr_assert_arr_eq(found->grads[rank][at], found->grads[0][at],
                             param->count * sizeof *joined, "%s of layer %d, rank %d", param->name,
                             param->layer, rank);
        }
    }
    for (size_t j = 0; j < param->count; j++) {
        want[j] = (double)right[j];
    }
    Comparison comparison = compare(joined, want, param->count, tolerance_of_model(F32));
    char text[COMPARISON_TEXT];
    cr_assert(comparison.pass, "layer %d: %s", param->layer,
              comparison_text(&comparison, param->name, text));
    free(joined);
    free(right);
    free(want);
}

static void free_findings(Findings *found, int params) {
    for (int rank = 0; rank < found->ranks; rank++) {
        for (int i = 0; i < params; i++) {
            free(found->grads[rank][i]);
        }
        free(found->grads[rank]);
        free(found->counts[rank]);
    }
}

/* A vocabulary that the ranks do not divide; every parameter, the loss, the norm, the wire. */
static void expect_slices(int ranks, bool gpu, Attention attention) {
    Findings found = {.config = parts_config(F32, attention), .gpu = gpu, .ranks = ranks};
    found.config.V = 259;
    PartBench bench = bench_on(gpu);
    Model *whole = bench_model(&bench, &found.config);
    float *weights = draw_weights(whole);
    found.weights = weights;
    double want = passes_in_turn(whole, PASSES), wire = 0;
    float norm = model_grad_norm(whole);
    cudasim_ranks_run(ranks, rank_passes, &found);
    for (int rank = 0; rank < ranks; rank++) {
        cr_assert_eq(found.loss[rank], found.loss[0]);
        cr_assert(fabs(found.loss[rank] - want) <= 1e-5 * want, "%g, not %g", found.loss[rank],
                  want);
        cr_assert_eq(found.norm[rank], found.norm[0]);
        cr_assert(fabsf(found.norm[rank] - norm) <= 1e-5f * norm, "norm %g, not %g",
                  (double)found.norm[rank], (double)norm);
        wire += found.wire[rank];
    }
    cr_assert_float_eq(wire,
                       (double)(PASSES * tp_wire_bytes(&found.config, PARTS_B, PARTS_T, ranks)), 1,
                       "%f bytes on the wire", wire);
    for (int i = 0; i < whole->param_count; i++) {
        expect_gradient(&found, whole, i);
    }
    free_findings(&found, whole->param_count);
    free(weights);
    bench_close(&bench);
}

Test(tensor, two_slices_give_the_gradients_of_the_whole) {
    expect_slices(2, false, ATTENTION_PLAIN);
}

Test(tensor, four_slices_and_flash_attention) {
    expect_slices(4, false, ATTENTION_FLASH);
}

Test(tensor, slices_on_the_gpu) {
    expect_slices(2, true, ATTENTION_PLAIN);
}
