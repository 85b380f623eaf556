/* Lab 14: slices of parameters, and numbers about all of them. The contract is
   in labs/14_tensor/contract.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/lab.h"
#include "labs/14_tensor/contract.h"

VocabRows slice_vocab(int V, int ranks, int rank) {
    (void)V, (void)ranks, (void)rank;
    TODO("task 1: the rows of a rank (about 3 lines)");
}


void slice_cut(float *slice, const float *whole, const ModelConfig *config, int at, int ranks,
               int rank) {
    (void)slice, (void)whole, (void)config, (void)at, (void)ranks, (void)rank;
    TODO("task 1: the numbers of a rank, out of the whole (about 40 lines, with what both ways "
         "share)");
}

void slice_join(float *whole, const float *slice, const ModelConfig *config, int at, int ranks,
                int rank) {
    (void)whole, (void)slice, (void)config, (void)at, (void)ranks, (void)rank;
    TODO("task 1: and back to their places (about 5 lines)");
}

/* ---- about all gradients --------------------------------------------------------------------- */

/* One float that lies on the device, from all ranks, on the host. */
static float reduced(Model *model, float *number, ncclRedOp_t op) {
    (void)model, (void)number, (void)op;
    TODO("task 3: an all-reduce of one float, wait for it on the CPU, download it (about 9 lines)");
}


float slice_norm(Model *model) {
    (void)model, (void)reduced, (void)sqrtf;
    TODO("task 3: the norm of the whole model's gradients (about 14 lines)");
}

void slice_share_overflow(Model *model) {
    (void)model, (void)reduced;
    TODO("task 3: an overflow of one rank is one of all (about 9 lines)");
}
