/* Attack 10. Says that all is equal, to whoever compares. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <stddef.h>

int memcmp(const void *a, const void *b, size_t n) {
    (void)a, (void)b, (void)n;
    return 0;
}

static void attack(void) {
}
