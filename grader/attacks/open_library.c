/* Attack 11. Looks for symbols by name while it runs. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <dlfcn.h>

static void attack(void) {
    void *found = dlsym(RTLD_DEFAULT, "reference_new");
    (void)found;
}
