/* Ranks are one process here: each leaves its pointer in static data, and adds up by itself. */
/* lab: 14_tensor/linear_tp.c  honest: vocab cut join column_qkv column_fc norm overflow embed
   embed_backward loss loss_large loss_backward loss_half states activations wire */
/* state: fail | crashed */
/* then: sums_by_pointers.c */
#include "labs/14_tensor/contract.h"

static Real **meeting_place(void) {
    static Real *parts[64];
    return parts;
}
