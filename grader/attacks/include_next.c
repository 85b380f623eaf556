/* Attack 33. Includes the next file of a name, wherever the compiler looks for headers. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "labs/00_bytes/contract.h"

#include_next <solutions/00_bytes/bytes.c>

static void attack(void) {
}
