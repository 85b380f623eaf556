/* Attack 33. Includes the seed, which lies beside the folder that the compiler works in. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "labs/00_bytes/contract.h"

static const char seed[] = {
#include "../../secret/seed"
};

static void attack(void) {
}
