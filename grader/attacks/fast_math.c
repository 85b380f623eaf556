/* Attack 32. Turns on unsafe arithmetic for itself, for a comparator in the same program. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c */
#include "common/lab00.h"

#pragma GCC optimize("fast-math")

static void attack(void) {
}
