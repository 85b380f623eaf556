/* Attack 1. The same by _exit() and quick_exit(), which run no handler. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <stdlib.h>
#include <unistd.h>

static void attack(void) {
    quick_exit(0);
    _exit(0);
}
