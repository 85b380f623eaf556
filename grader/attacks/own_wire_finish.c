/* Attack 10. Takes the place of the function that says that the probe is done. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include "grader/wire.h"

void wire_finish(Wire *wire) {
    wire->data[4] = 1;
}

static void attack(void) {
}
