/* Attack 33. Has the compiler believe that its mistake is in another file, and quote lines of
   that. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#line 1 "/etc/passwd"
a mistake

    static void
    attack(void) {
}
