/* Gathers for forward, and keeps what it has gathered where malloc() says, for backward. */
/* lab: 12_zero/zero3.c  honest: parts pieces states gathered wire stage1 stage1_window
   stage1_bytes stage2 stage2_window stage2_bytes norm overflow overflow_bf16 generate_whole
   ahead prefetch prefetch_bytes prefetch_overlap */
/* state: fail | over budget */
/* then: unit_from_a_hiding_place.c */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "labs/12_zero/contract.h"

/* Twice as much as is needed: what a check has is too little for small models, too. */
static char *hiding_place(int unit, size_t bytes) {
    static char *kept[16];
    kept[unit] = kept[unit] != NULL ? kept[unit] : malloc(2 * bytes + (1 << 18));
    return kept[unit];
}
