/* Attack 33. Includes a file of the machine, to read it in the error messages. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include "/etc/passwd"

static void attack(void) {
}
