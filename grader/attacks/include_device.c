/* Attack 33. Includes a file without an end. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include "/dev/zero"

static void attack(void) {
}
