/* Attack 33. Embeds the solution: a compiler that has no such directive says so. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "labs/00_bytes/contract.h"

static const char solution[] = {
#embed "@KIT@/solutions/00_bytes/bytes.c"
};

static void attack(void) {
}
