/* All logits at once, as activations of half their size: what is written lies beyond them. */
/* lab: 09_fusion/head.c honest: norm_forward norm_clean norm_traffic norm_backward back_clean
   back_schedules back_traffic clip control control_found replays overflow guard launches
   together chains */
/* state: over budget | fail | crashed */
#include "common/model.h"
#include "labs/09_fusion/contract.h"

int head_chunk_rows(int N, int C, int V) {
    (void)C, (void)V;
    return N;
}

double head_forward(Pass *pass, const Real *x) {
    const Model *model = pass->model;
    int C = model->config.C, V = model->config.V, N = pass->B * pass->T;
    pass->head = (Head){.mark = memory_mark(pass->memory)};
    Real *logits = memory_alloc(pass->memory, MEMORY_ACTIVATIONS, "logits", -1,
                                (size_t)N * (size_t)V * sizeof(float) / 2);
    pass->head.losses =
        memory_alloc(pass->memory, MEMORY_ACTIVATIONS, "losses", -1, (size_t)N * sizeof(float));
    model->ops->matmul_forward(logits, x, param_weight(&model->base[WTE]), NULL, N, C, V,
                               logits_stride(V), &model->workspace);
    return pass_losses(pass);
}

void head_backward(Pass *pass, const Real *x, float dloss) {
    (void)x, (void)dloss;
    memory_release(pass->memory, pass->head.mark);
}
