/* Random streams over Philox. The contract is in rng.h; the words themselves come from
   kernels/philox.h. */
#include "common/rng.h"

#include <math.h>

#include "kernels/philox.h"

Rng rng_new(uint64_t seed, RngStream stream) {
    return (Rng){.seed = seed, .stream = (uint64_t)stream, .offset = 0};
}

uint64_t rng_take(Rng *rng, uint64_t counters) {
    uint64_t first = rng->offset;
    rng->offset += counters;
    return first;
}

static Philox draw(Rng *rng) {
    return philox(rng_take(rng, 1), rng->stream, rng->seed);
}

float rng_uniform(Rng *rng) {
    return philox_uniform(draw(rng).word[0]);
}

uint64_t rng_below(Rng *rng, uint64_t n) {
    /* Numbers above the largest multiple of n would make small remainders more likely. */
    uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    for (;;) {
        Philox random = draw(rng);
        uint64_t x = (uint64_t)random.word[1] << 32 | random.word[0];
        if (x < limit) {
            return x % n;
        }
    }
}

void rng_normal(Rng *rng, float *out, size_t n, float std) {
    const double two_pi = 6.283185307179586;
    for (size_t i = 0; i < n; i += 2) {
        Philox random = draw(rng);
        /* (word + 1) / 2^32 lies in (0, 1]: the logarithm stays finite. */
        double radius = sqrt(-2 * log((random.word[0] + 1.0) * 0x1p-32));
        double angle = two_pi * random.word[1] * 0x1p-32;
        out[i] = (float)((double)std * radius * cos(angle));
        if (i + 1 < n) {
            out[i + 1] = (float)((double)std * radius * sin(angle));
        }
    }
}
