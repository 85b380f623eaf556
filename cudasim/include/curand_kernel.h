/**
 * @file curand_kernel.h
 * @brief cuRAND's generators for kernels: Philox4x32-10 and XORWOW, with NVIDIA's numbers.
 * @ingroup cudasim
 *
 * The formulas are in cudasim_random.h; a subsequence of XORWOW is 2^67 numbers.
 *
 * Integers and uniform numbers have the bits that a GPU gives for the same seed, subsequence and
 * offset. Normal numbers come from them by Box and Muller, and may differ in the last bits, since a
 * GPU's sine and logarithm do.
 *
 * The functions that use a state become part of the function that calls them, so check mode sees
 * the state's memory there: a state that nobody has initialised, or that two threads share.
 */
#ifndef CUDASIM_CURAND_KERNEL_H
#define CUDASIM_CURAND_KERNEL_H

#ifdef CUDASIM_SEALED_H
#error "cudasim: unsupported: cuRAND in a graded file; use a generator such as kernels/philox.h"
#endif

#include "cuda_runtime.h"
#include "cudasim_random.h"
#include "curand.h"

/** The state of a Philox generator. No byte of it is left unwritten. */
typedef struct curandStatePhilox4_32_10 {
    unsigned counter[4];  /**< of the block of four numbers; the upper half is the subsequence */
    unsigned key[2];      /**< the seed */
    unsigned output[4];   /**< the block */
    unsigned used;        /**< numbers of it that were given out: 0 to 3 */
    int has_extra;        /**< whether `extra` is the next normal number */
    int has_extra_double; /**< the same of extra_double */
    float extra;          /**< the second of two normal numbers */
    double extra_double;  /**< the same as a double */
} curandStatePhilox4_32_10_t;

/** The state of an XORWOW generator. */
typedef struct curandStateXORWOW {
    unsigned d;           /**< Weyl's sequence */
    unsigned v[5];        /**< the shift register */
    int has_extra;        /**< as in Philox */
    int has_extra_double; /**< as in Philox */
    float extra;          /**< as in Philox */
    float unused;         /**< fills a gap */
    double extra_double;  /**< as in Philox */
} curandStateXORWOW_t;
typedef curandStateXORWOW_t curandState;   /**< the usual name */
typedef curandStateXORWOW_t curandState_t; /**< the same */

/** @cond */
#define CUDASIM_OTHER_GENERATORS "this generator of cuRAND; use curandState or Philox"
typedef int curandStateMRG32k3a CUDASIM_NO(CUDASIM_OTHER_GENERATORS);
typedef int curandStateMRG32k3a_t CUDASIM_NO(CUDASIM_OTHER_GENERATORS);
typedef int curandStateMtgp32 CUDASIM_NO(CUDASIM_OTHER_GENERATORS);
typedef int curandStateMtgp32_t CUDASIM_NO(CUDASIM_OTHER_GENERATORS);
typedef int curandStateSobol32_t CUDASIM_NO(CUDASIM_OTHER_GENERATORS);
typedef int curandStateSobol64_t CUDASIM_NO(CUDASIM_OTHER_GENERATORS);
typedef int curandStateScrambledSobol32_t CUDASIM_NO(CUDASIM_OTHER_GENERATORS);
typedef int curandStateScrambledSobol64_t CUDASIM_NO(CUDASIM_OTHER_GENERATORS);
template <class State>
CUDASIM_NO("cuRAND's Poisson numbers")
unsigned curand_poisson(State *, double);
template <class State>
CUDASIM_NO("cuRAND's Poisson numbers")
uint4 curand_poisson4(State *, double);

CUDASIM_SIDES_BEGIN

/* ---- Philox ---------------------------------------------------------------------------------- */

/* The block of the state's counter. */
CUDASIM_HINTED void cudasim_philox_fill(curandStatePhilox4_32_10_t *s) {
    unsigned c[4] = {s->counter[0], s->counter[1], s->counter[2], s->counter[3]};
    cudasim_philox_block(c, s->key[0], s->key[1]);
    for (int i = 0; i < 4; i++) {
        s->output[i] = c[i];
    }
}

/* Counts blocks up; what goes beyond 64 bits is carried into the subsequence. */
CUDASIM_HINTED void cudasim_philox_count(curandStatePhilox4_32_10_t *s, unsigned long long n) {
    unsigned long long low = s->counter[0] | (unsigned long long)s->counter[1] << 32;
    unsigned long long sum = low + n;
    s->counter[0] = (unsigned)sum;
    s->counter[1] = (unsigned)(sum >> 32);
    if (sum < low && ++s->counter[2] == 0) {
        s->counter[3]++;
    }
}

CUDASIM_HINTED void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    unsigned long long high = (s->counter[2] | (unsigned long long)s->counter[3] << 32) + n;
    s->counter[2] = (unsigned)high;
    s->counter[3] = (unsigned)(high >> 32);
    cudasim_philox_fill(s);
}

CUDASIM_HINTED void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    unsigned used = s->used + (unsigned)(n % 4);
    s->used = used % 4;
    cudasim_philox_count(s, n / 4 + used / 4);
    cudasim_philox_fill(s);
}

CUDASIM_HINTED void curand_init(unsigned long long seed, unsigned long long subsequence,
                                unsigned long long offset, curandStatePhilox4_32_10_t *state) {
    curandStatePhilox4_32_10_t s = {};
    s.key[0] = (unsigned)seed;
    s.key[1] = (unsigned)(seed >> 32);
    skipahead_sequence(subsequence, &s);
    skipahead(offset, &s);
    *state = s;
}

CUDASIM_HINTED unsigned curand(curandStatePhilox4_32_10_t *s) {
    unsigned value = s->output[s->used % 4];
    if (++s->used >= 4) {
        s->used = 0;
        cudasim_philox_count(s, 1);
        cudasim_philox_fill(s);
    }
    return value;
}

/* The next four. */
CUDASIM_HINTED uint4 curand4(curandStatePhilox4_32_10_t *s) {
    unsigned x = curand(s), y = curand(s), z = curand(s);
    return make_uint4(x, y, z, curand(s));
}

/* ---- XORWOW ---------------------------------------------------------------------------------- */

enum { CUDASIM_SUBSEQUENCE = 67 /* as a power of two, numbers of one */ };

CUDASIM_HINTED void skipahead(unsigned long long n, curandStateXORWOW_t *s) {
    unsigned v[5] = {s->v[0], s->v[1], s->v[2], s->v[3], s->v[4]};
    cudasim_xorwow_skip(v, n, 0);
    for (int i = 0; i < 5; i++) {
        s->v[i] = v[i];
    }
    s->d += CUDASIM_WEYL * (unsigned)n;
}

/* Weyl's sequence comes round in a subsequence. */
CUDASIM_HINTED void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *s) {
    unsigned v[5] = {s->v[0], s->v[1], s->v[2], s->v[3], s->v[4]};
    cudasim_xorwow_skip(v, n, CUDASIM_SUBSEQUENCE);
    for (int i = 0; i < 5; i++) {
        s->v[i] = v[i];
    }
}

CUDASIM_HINTED void curand_init(unsigned long long seed, unsigned long long subsequence,
                                unsigned long long offset, curandStateXORWOW_t *state) {
    curandStateXORWOW_t s = {};
    cudasim_xorwow_seed(seed, &s.d, s.v);
    skipahead_sequence(subsequence, &s);
    skipahead(offset, &s);
    *state = s;
}

CUDASIM_HINTED unsigned curand(curandStateXORWOW_t *s) {
    unsigned v[5] = {s->v[0], s->v[1], s->v[2], s->v[3], s->v[4]};
    cudasim_xorwow_step(v);
    for (int i = 0; i < 5; i++) {
        s->v[i] = v[i];
    }
    s->d += CUDASIM_WEYL;
    return v[4] + s->d;
}

/* ---- uniform numbers ------------------------------------------------------------------------- */

template <class State> CUDASIM_HINTED float curand_uniform(State *s) {
    return cudasim_uniform(curand(s));
}
CUDASIM_HINTED float4 curand_uniform4(curandStatePhilox4_32_10_t *s) {
    uint4 x = curand4(s);
    return make_float4(cudasim_uniform(x.x), cudasim_uniform(x.y), cudasim_uniform(x.z),
                       cudasim_uniform(x.w));
}
/* Philox takes 32 bits for one, XORWOW 53. */
CUDASIM_HINTED double curand_uniform_double(curandStatePhilox4_32_10_t *s) {
    return curand(s) * 0x1p-32 + 0x1p-32;
}
CUDASIM_HINTED double curand_uniform_double(curandStateXORWOW_t *s) {
    unsigned x = curand(s);
    return cudasim_uniform_double(x, curand(s));
}
CUDASIM_HINTED double2 curand_uniform2_double(curandStatePhilox4_32_10_t *s) {
    uint4 x = curand4(s);
    return make_double2(cudasim_uniform_double(x.x, x.y), cudasim_uniform_double(x.z, x.w));
}

/* ---- normal numbers -------------------------------------------------------------------------- */

CUDASIM_DEVICE float2 cudasim_normal_of(unsigned x, unsigned y) {
    const unsigned words[2] = {x, y};
    float normal[2];
    cudasim_normal(words, normal);
    return make_float2(normal[0], normal[1]);
}
CUDASIM_DEVICE double2 cudasim_normal_of(uint4 x) {
    const unsigned words[4] = {x.x, x.y, x.z, x.w};
    double normal[2];
    cudasim_normal_double(words, normal);
    return make_double2(normal[0], normal[1]);
}
CUDASIM_HINTED uint4 cudasim_four(curandStatePhilox4_32_10_t *s) {
    return curand4(s);
}
CUDASIM_HINTED uint4 cudasim_four(curandStateXORWOW_t *s) {
    unsigned x = curand(s), y = curand(s), z = curand(s);
    return make_uint4(x, y, z, curand(s));
}

template <class State> CUDASIM_HINTED float2 curand_normal2(State *s) {
    unsigned x = curand(s);
    return cudasim_normal_of(x, curand(s));
}
template <class State> CUDASIM_HINTED double2 curand_normal2_double(State *s) {
    return cudasim_normal_of(cudasim_four(s));
}
/* Of two that are made at once, the second is the next call's. */
template <class State> CUDASIM_HINTED float curand_normal(State *s) {
    s->has_extra = !s->has_extra;
    if (!s->has_extra) {
        return s->extra;
    }
    float2 two = curand_normal2(s);
    s->extra = two.y;
    return two.x;
}
template <class State> CUDASIM_HINTED double curand_normal_double(State *s) {
    s->has_extra_double = !s->has_extra_double;
    if (!s->has_extra_double) {
        return s->extra_double;
    }
    double2 two = curand_normal2_double(s);
    s->extra_double = two.y;
    return two.x;
}
CUDASIM_HINTED float4 curand_normal4(curandStatePhilox4_32_10_t *s) {
    uint4 x = curand4(s);
    float2 a = cudasim_normal_of(x.x, x.y), b = cudasim_normal_of(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}

template <class State>
CUDASIM_HINTED float curand_log_normal(State *s, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(s));
}
template <class State>
CUDASIM_HINTED float2 curand_log_normal2(State *s, float mean, float deviation) {
    float2 x = curand_normal2(s);
    return make_float2(expf(mean + deviation * x.x), expf(mean + deviation * x.y));
}
CUDASIM_SIDES_END
/** @endcond */

#endif
