/* Attack 33. Takes a file as a header that was compiled before. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "labs/00_bytes/contract.h"

#pragma GCC pch_preprocess "@KIT@/build/judge/00_bytes"

static void attack(void) {
}
