/* Ranks are one process here: each leaves its pointer in data of its thread, of which there is
   one. */
/* lab: 14_tensor/linear_tp.c  honest: none */
/* state: build error */
/* then: sums_by_pointers.c */
#include "labs/14_tensor/contract.h"

static Real **meeting_place(void) {
    static _Thread_local Real *parts[64];
    return parts;
}
