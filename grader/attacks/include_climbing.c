/* Attack 33. Climbs out of its folder to the tests. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include "../../../../../../../../../../etc/hostname"
#include "../../labs/00_bytes/tests.c"

static void attack(void) {
}
