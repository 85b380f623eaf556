/* Attack 34. Brings a main() of its own. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

int main(void) {
    return 0;
}

static void attack(void) {
}
