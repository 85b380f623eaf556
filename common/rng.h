/**
 * @file rng.h
 * @brief Random streams whose whole state is three numbers: save them, and the draws come again.
 * @ingroup common
 *
 *     Rng rng = rng_new(seed, RNG_DATA);
 *     uint64_t first = rng_below(&rng, rows);   // the stream moves on
 */
#ifndef COMMON_RNG_H
#define COMMON_RNG_H

#include <stddef.h>
#include <stdint.h>

/** The use of a stream. Streams of one seed never meet: each has its own half of the counter. */
typedef enum RngStream {
    RNG_DROPOUT, /**< the masks (kernels/dropout.h counts in this stream) */
    RNG_WEIGHTS, /**< initial weights */
    RNG_DATA,    /**< the order of rows */
    RNG_SAMPLE,  /**< generated text */
    RNG_ADAPTERS /**< initial numbers of adapters */
} RngStream;

/** A place in a stream. Plain data: copy it to save it. */
typedef struct Rng {
    uint64_t seed;   /**< Philox key */
    uint64_t stream; /**< upper half of the Philox counter */
    uint64_t offset; /**< lower half: the next counter that is not drawn yet */
} Rng;

/** The beginning of a stream. */
Rng rng_new(uint64_t seed, RngStream stream);

/**
 * Takes counters out of the stream for a caller that draws from them itself, such as dropout.
 *
 * @param rng      the stream, which moves on
 * @param counters how many
 * @return the first of them
 */
uint64_t rng_take(Rng *rng, uint64_t counters);

/** Uniform in [0, 1); takes one counter. */
float rng_uniform(Rng *rng);

/** Uniform in 0 ... n - 1, n >= 1, without bias; takes one counter or, rarely, more. */
uint64_t rng_below(Rng *rng, uint64_t n);

/**
 * Normal numbers, two from each counter (Box-Muller).
 *
 * @param      rng the stream, which moves on by ceil(n / 2)
 * @param[out] out (n) floats with mean 0
 * @param      n   elements
 * @param      std standard deviation
 */
void rng_normal(Rng *rng, float *out, size_t n, float std);

#endif
