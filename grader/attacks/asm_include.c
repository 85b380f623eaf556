/* Attack 33. Has the assembler read the solution as its own source. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "labs/00_bytes/contract.h"

__asm__(".include \"@KIT@/solutions/00_bytes/bytes.c\"");

static void attack(void) {
}
