/* Attack 34. Brings code for link-time optimisation, which a linker takes for the code that was
   looked at. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

__asm__(".section .gnu.lto_.symtab.1,\"e\",%progbits\n .zero 16\n"
        ".section .gnu.lto_.lto.1,\"e\",%progbits\n .zero 16\n .text");

static void attack(void) {
}
