/* Attack 34. Replaces a function of the kit, as a weak symbol, so that the linker does not
   complain. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

__attribute__((weak)) int params_count(const ModelConfig *config) {
    (void)config;
    return 0;
}

static void attack(void) {
}
