/* Attack 33. Includes the solution through the compiler's own folder, and up from there. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "labs/00_bytes/contract.h"

#include "/proc/self/cwd/../../../@KIT@/solutions/00_bytes/bytes.c"

static void attack(void) {
}
