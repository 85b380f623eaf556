/* Lab 07: the values that a byte stands for. The contracts are in labs/07_optimizers/contract.h. */
#include <math.h>

#include "common/lab.h"
#include "labs/07_optimizers/contract.h"

/* Numbers get 7 exponents. The smaller one is, the fewer values it has: in the smallest decade
   there is one with a sign, in the largest there are 64. */
enum { EXPONENTS = 7 };

/* Both codebooks: `parts` of the smallest exponent, and negatives or not. */
static void codebook(float value[ADAM8_CODES], int parts, int is_signed) {
    (void)value, (void)parts, (void)is_signed;
    TODO("task 1: the 256 values of a codebook, rising (about 12 lines)");
}

void codebook_signed(float value[ADAM8_CODES]) {
    codebook(value, 1, 1);
}

void codebook_unsigned(float value[ADAM8_CODES]) {
    codebook(value, 2, 0);
}
