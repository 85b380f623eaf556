/* Attack 34. Gives a symbol a name of four hundred letters, behind which a reader of a list
   might find another kind. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

/* The 400th letter is that of a symbol which nobody else sees. */
#define LETTERS_100                                                                                \
    "tttttttttttttttttttttttttttttttttttttttttttttttttt"                                           \
    "tttttttttttttttttttttttttttttttttttttttttttttttttt"
#define NAME LETTERS_100 LETTERS_100 LETTERS_100 LETTERS_100 "t"
__asm__(".globl " NAME "\n .set " NAME ", 0");

static void attack(void) {
}
