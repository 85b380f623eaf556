/* Attack 33. Includes a source of the kit, which has the list that task 1 asks for. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "labs/00_bytes/contract.h"

#include "common/params.c"

static void attack(void) {
}
