/* Attack 34. Puts instructions into the program's .fini section, past the list of
   destructors. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#if defined __x86_64__
__asm__(".section .fini,\"ax\"\n ud2\n .text");
#else
__asm__(".section .fini,\"ax\"\n udf #0\n .text");
#endif

static void attack(void) {
}
