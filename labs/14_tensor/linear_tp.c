/* Lab 14: linear layers of which each rank has a part. The contract is
   in labs/14_tensor/contract.h. */
#include "common/lab.h"
#include "labs/14_tensor/contract.h"

/* Whether a layer is split by its outputs: then each rank has all inputs. */
static bool is_column(const Linear *linear) {
    (void)linear;
    TODO("task 2: which layers are split by their outputs? (1 line)");
}

/* The sum over the ranks, in place: n numbers in storage precision. */
static void sum_over_ranks(const Model *model, Real *x, size_t n) {
    (void)model, (void)x, (void)n;
    TODO("task 2: an all-reduce, and on the CPU wait for it (about 7 lines)");
}

void tp_forward(Linear *linear, Real *out, const Real *in) {
    const Model *model = linear->pass->model;
    const Param *weight = model_block_params(model, linear->layer) + linear_weight(linear->id);
    const Param *bias = weight + 1;
    int N = linear->N, IC = linear->IC, OC = linear->OC;
    (void)out, (void)in, (void)bias, (void)N, (void)IC, (void)OC, (void)is_column;
    (void)sum_over_ranks;
    TODO("task 2: the product, the bias once, the sum where it is needed (about 7 lines)");
}

void tp_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    const Model *model = linear->pass->model;
    const Param *weight = model_block_params(model, linear->layer) + linear_weight(linear->id);
    const Param *bias = weight + 1;
    int N = linear->N, IC = linear->IC, OC = linear->OC;
    (void)din, (void)dout, (void)in, (void)bias, (void)N, (void)IC, (void)OC;
    TODO("task 2: gradients of weight, bias and input, and the sum where it is needed (about 5 "
         "lines)");
}
