/* Attack 59. Macros that grow to a million million letters. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#define A x x x x x x x x x x x x x x x x x x x x
#define C A A A A A A A A A A A A A A A A A A A A
#define D C C C C C C C C C C C C C C C C C C C C
#define E D D D D D D D D D D D D D D D D D D D D
#define F E E E E E E E E E E E E E E E E E E E E
#define G F F F F F F F F F F F F F F F F F F F F
#define H G G G G G G G G G G G G G G G G G G G G
#define I H H H H H H H H H H H H H H H H H H H H
#define J I I I I I I I I I I I I I I I I I I I I
const char *bomb = "" J;

static void attack(void) {
}
