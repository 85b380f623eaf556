/* Attack 33. Includes the solution. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
#include "solutions/00_bytes/bytes.c"
