/* Attack 3. The same by atexit(). */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <stdlib.h>

static void after(void) {
}

static void attack(void) {
    atexit(after);
}
