#include <pthread.h>

#include "cudasim_random.h"
#include "sim.h"

/* Skipping ahead in a shift register of 160 bits. A step is linear over the field of two elements,
   so n steps are a matrix: the product of those for the powers of two that n is the sum of. */

enum {
    WORDS = 5,
    BITS = 32 * WORDS,
    POWERS = 64 + 67 /* of two: of an offset, and of a number of subsequences of 2^67 */
};

/* The images of the vectors that have one bit. */
typedef struct Steps {
    unsigned image[BITS][WORDS];
} Steps;

static Steps *power; /* [POWERS] */

static void apply(const Steps *steps, unsigned v[WORDS]) {
    unsigned sum[WORDS] = {0};
    for (int bit = 0; bit < BITS; bit++) {
        if (v[bit / 32] >> bit % 32 & 1) {
            for (int i = 0; i < WORDS; i++) {
                sum[i] ^= steps->image[bit][i];
            }
        }
    }
    memcpy(v, sum, sizeof sum);
}

static void make_powers(void) {
    power = sim_map(POWERS * sizeof *power);
    for (int bit = 0; bit < BITS; bit++) {
        power[0].image[bit][bit / 32] = 1u << bit % 32;
        cudasim_xorwow_step(power[0].image[bit]);
    }
    for (int k = 1; k < POWERS; k++) {
        power[k] = power[k - 1];
        for (int bit = 0; bit < BITS; bit++) {
            apply(&power[k - 1], power[k].image[bit]);
        }
    }
}

/* n * 2^log2_unit steps; log2_unit is 0 or 67. */
void cudasim_xorwow_skip(unsigned v[5], unsigned long long n, int log2_unit) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (n != 0) {
        pthread_once(&once, make_powers);
    }
    for (int k = log2_unit; n != 0; n >>= 1, k++) {
        if (n & 1) {
            apply(&power[k], v);
        }
    }
}
