/* Says that every token was learned: a loss of 0, and no gradient. */
/* lab: 14_tensor/loss_tp.c  honest: vocab cut join column_qkv column_fc row column_backward
   row_backward half on_the_gpu norm overflow states activations wire */
/* state: fail | crashed */
#include "labs/14_tensor/contract.h"

void tp_embed_forward(Pass *pass, Real *x) {
    (void)pass, (void)x;
}

void tp_embed_backward(Pass *pass) {
    (void)pass;
}

double tp_head_forward(Pass *pass, const Real *x) {
    (void)x;
    pass->head = (Head){.mark = memory_mark(pass->memory)};
    pass->head.losses = memory_alloc_zero(pass->memory, MEMORY_ACTIVATIONS, "losses", -1,
                                          (size_t)pass->B * (size_t)pass->T * sizeof(float));
    return 0;
}

void tp_head_backward(Pass *pass, const Real *x, float dloss) {
    (void)x, (void)dloss;
    memory_release(pass->memory, pass->head.mark);
}
