#include <math.h>
#include <string.h>

#include "grader/labs/09_fusion/compare.h"
#include "grader/labs/09_fusion/term.h"
#include "labs/09_fusion/contract.h"

/* ---- rows of a chunk ------------------------------------------------------------------------- */

enum { CHUNK_SHAPES = 16 };

/* Mistakes in min(N, up(ceil(N / ceil(V / C)))). */
typedef enum ChunkMistake {
    CHUNK_RIGHT,
    CHUNK_DOWN,       /* N / ceil(V / C) rounded down */
    CHUNK_BEYOND,     /* more rows than N */
    CHUNK_WIDE_EXACT, /* V / C as it is */
    CHUNK_WIDE_DOWN,  /* V / C rounded down */
    CHUNK_IN_FLOAT,   /* N counted in float */
    CHUNK_IN_INT,     /* a sum beyond 2^31 - 1 in an int, which then is below zero: one row */
    CHUNK_MISTAKES
} ChunkMistake;

static const char *const chunk_sentence[CHUNK_MISTAKES] = {
    [CHUNK_DOWN] = "N / ceil(V / C) is rounded down: a chunk has at least that quotient of rows",
    [CHUNK_BEYOND] = "there are more rows in a chunk than in the pass: N is the most",
    [CHUNK_WIDE_EXACT] = "V / C is not rounded up before N is divided by it",
    [CHUNK_WIDE_DOWN] = "V / C is not rounded up before N is divided by it",
    [CHUNK_IN_FLOAT] = "N is counted in float, which has whole numbers up to 2^24",
    [CHUNK_IN_INT] = "the sum that rounds up is counted in an int, which ends at 2^31 - 1",
};

static const ChunkRule chunk_rule = TERM_CHUNK_IS, chunk_rules[] = TERM_CHUNK_EACH;

uint64_t chunk_up(ChunkRule rule, uint64_t least) {
    uint64_t rows = rule.first;
    while (rows < least) {
        rows = rows * rule.times + rule.more;
    }
    return rows;
}

static uint64_t chunk_as(const int32_t shape[3], ChunkRule rule, ChunkMistake mistake) {
    uint64_t N = (uint64_t)shape[0], C = (uint64_t)shape[1], V = (uint64_t)shape[2];
    uint64_t wide = mistake == CHUNK_WIDE_DOWN && V > C ? V / C : (V + C - 1) / C;
    uint64_t least = mistake == CHUNK_WIDE_EXACT ? (N * C + V - 1) / V
                     : mistake == CHUNK_DOWN     ? N / wide
                     : mistake == CHUNK_IN_FLOAT ? (uint64_t)ceilf((float)N / (float)wide)
                                                 : (N + wide - 1) / wide;
    least = mistake == CHUNK_IN_INT && N + wide - 1 > INT32_MAX ? 1 : least;
    uint64_t rows = chunk_up(rule, least);
    return rows < N || mistake == CHUNK_BEYOND ? rows : N;
}

/* Here a loop over powers of two does not end in an int. */
static void chunks_beyond(Check *check) {
    int32_t shape[CHUNK_SHAPES][3];
    uint64_t right[CHUNK_SHAPES];
    for (int i = 0; i < CHUNK_SHAPES; i++) {
        shape[i][0] = i == 0 ? INT32_MAX : 1;
        shape[i][1] = shape[i][2] = 64;
        right[i] = chunk_as(shape[i], chunk_rule, CHUNK_RIGHT);
    }
    check_give_again(check, "shapes", WIRE_I32, shape, (size_t)CHUNK_SHAPES * 3);
    if (check_run(check, "chunk_rows", RUN_SECONDS)) {
        check_equal(check, "rows", right, CHUNK_SHAPES, NULL, 0);
    } else {
        check_tell(check,
                   ": of %d tokens, C = V = 64: what is rounded up is beyond 2^30 rows, and an "
                   "int ends at 2^31 - 1",
                   (int)INT32_MAX);
    }
}

void chunks_grade(Check *check) {
    /* Then those that tell roundings apart: 257 / 16 is 16 rounded down, else more; 400 / 300 is 2
       rounded up, else less; 800 / 300 is 3, 2.7 or 2. No float is the last N but
       one, and the last one plus 1 no int; at last V + C - 1 is none. */
    static const int fixed[][3] = {
        {512, 768, 50257}, {1, 64, 256},     {1024, 128, 256},  {100, 300, 256},
        {7, 16, 4096},     {4096, 64, 64},   {257, 16, 256},    {128, 300, 400},
        {680, 300, 800},   {16777217, 1, 2}, {INT32_MAX, 1, 2}, {INT32_MAX, 768, INT32_MAX}};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    int32_t shape[CHUNK_SHAPES][3];
    uint64_t as[CHUNK_MISTAKES][CHUNK_SHAPES];
    uint64_t others[TERM_MOST][CHUNK_SHAPES];
    const Term term = TERM_CHUNK;
    for (int i = 0; i < CHUNK_SHAPES; i++) {
        shape[i][0] = i < FIXED ? fixed[i][0] : check_int(check, 1, 5000);
        shape[i][1] = i < FIXED ? fixed[i][1] : check_int(check, 1, 900);
        shape[i][2] = i < FIXED ? fixed[i][2] : check_int(check, 256, 60000);
        for (ChunkMistake mistake = CHUNK_RIGHT; mistake < CHUNK_MISTAKES; mistake++) {
            as[mistake][i] = chunk_as(shape[i], chunk_rule, mistake);
        }
        for (int k = 0; k < term.count; k++) {
            others[k][i] = chunk_as(shape[i], chunk_rules[k], CHUNK_RIGHT);
        }
    }
    ExactSuspect suspects[CHUNK_MISTAKES + TERM_MOST];
    char text[TERM_MOST][TERM_TEXT];
    int count = 0;
    for (ChunkMistake mistake = CHUNK_RIGHT + 1; mistake < CHUNK_MISTAKES; mistake++) {
        suspects[count++] = (ExactSuspect){chunk_sentence[mistake], as[mistake]};
    }
    for (int k = 0; k < term.count; k++) {
        if (k != term.now) {
            suspects[count++] = (ExactSuspect){term_mistake(&term, k, text[k]), others[k]};
        }
    }
    check_give(check, "shapes", WIRE_I32, shape, (size_t)CHUNK_SHAPES * 3);
    check_want(check, "rows", WIRE_U64, CHUNK_SHAPES);
    check_memory(check, 0);
    if (check_run(check, "chunk_rows", RUN_SECONDS)) {
        if (check_equal(check, "rows", as[CHUNK_RIGHT], CHUNK_SHAPES, suspects, count)) {
            chunks_beyond(check);
        }
    }
}

/* ---- norm and factor ------------------------------------------------------------------------- */

typedef enum ClipMistake {
    CLIP_RIGHT,
    CLIP_ALWAYS,
    CLIP_NOT_INFINITE,
    CLIP_NOT_NAN,
    CLIP_AT_ZERO,
    CLIP_BELOW_ZERO,
    CLIP_SUM,
    CLIP_FOUND,
    CLIP_IN_DOUBLE,
    CLIP_MISTAKES
} ClipMistake;

static const char *const clip_sentence[CLIP_MISTAKES] = {
    [CLIP_ALWAYS] = "a norm below the limit is raised to it: the factor is at most 1",
    [CLIP_NOT_INFINITE] = "an infinite norm passes: `!(norm <= max_norm)` has inf and NaN in it",
    [CLIP_NOT_NAN] = "a norm that is NaN passes, since no comparison with it is true: ask "
                     "`!(norm <= max_norm)`",
    [CLIP_AT_ZERO] = "max_norm 0 is taken for a limit: it means that there is none",
    [CLIP_BELOW_ZERO] = "a limit below 0 is taken for one: only max_norm > 0 is a limit",
    [CLIP_SUM] = "the norm is the root of the sum of squares, not the sum",
    [CLIP_FOUND] = "found is written: it is unscale()'s, and clipping leaves it alone",
    [CLIP_IN_DOUBLE] =
        "the factor is worked out in double, as a 1e-6 without an f does: in float it "
        "has the bits of optimizer_clip()",
};

enum { CLIP_FIXED = 10, CLIP_CASES = CLIP_FIXED + 40, CLIP_NUMBERS = 4, FOUND_BEFORE = 3 };

/* Norm, factor, found and sum, as control_clip() works them out, or with a mistake. */
static void clip_as(float sum, float limit, ClipMistake mistake, float to[CLIP_NUMBERS]) {
    float norm = mistake == CLIP_SUM ? sum : sqrtf(sum);
    bool over = !(norm <= limit) || mistake == CLIP_ALWAYS;
    over =
        over && (limit > 0 || mistake == CLIP_AT_ZERO || (limit < 0 && mistake == CLIP_BELOW_ZERO));
    over = over && (isfinite(norm) || mistake != CLIP_NOT_INFINITE);
    over = over && (!isnan(norm) || mistake != CLIP_NOT_NAN);
    to[0] = norm;
    to[1] = !over                       ? 1
            : mistake == CLIP_IN_DOUBLE ? (float)((double)limit / ((double)norm + 1e-6))
                                        : limit / (norm + 1e-6f);
    to[2] = mistake == CLIP_FOUND && !isfinite(norm) ? 1 : FOUND_BEFORE;
    to[3] = sum;
}

/* All NaN are one: a GPU's have other bits. */
static bool same_number(float a, float b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool clip_expect(Check *check, const float given[2], const float *got) {
    static const char *const names[CLIP_NUMBERS] = {"norm", "factor", "found", "sum"};
    float right[CLIP_NUMBERS], wrong[CLIP_NUMBERS];
    bool all = true;
    clip_as(given[0], given[1], CLIP_RIGHT, right);
    for (int k = 0; k < CLIP_NUMBERS; k++) {
        all = check_compared(check, same_number(got[k], right[k]),
                             "a sum of %g with a limit of %g: %s is %.9g, and %.9g is right",
                             (double)given[0], (double)given[1], names[k], (double)got[k],
                             (double)right[k]) &&
              all;
        for (ClipMistake mistake = CLIP_RIGHT + 1; mistake < CLIP_MISTAKES; mistake++) {
            clip_as(given[0], given[1], mistake, wrong);
            check_suspect(check, clip_sentence[mistake], same_number(got[k], wrong[k]));
        }
    }
    return all;
}

void clip_grade(Check *check) {
    static const float fixed[CLIP_FIXED][2] = {
        {4, 1},        {4, 2},        {4, 5}, {0, 1},   {1e-12f, 1e-7f},
        {INFINITY, 1}, {1e30f, 0.5f}, {9, 0}, {NAN, 1}, {4, -1}};
    float given[CLIP_CASES][2];
    for (int i = 0; i < CLIP_CASES; i++) {
        given[i][0] = i < CLIP_FIXED ? fixed[i][0] : (float)check_int(check, 5, 900);
        given[i][1] = i < CLIP_FIXED ? fixed[i][1] : 1.25f;
    }
    check_give(check, "sums", WIRE_F32, given, (size_t)CLIP_CASES * 2);
    check_want(check, "clipped", WIRE_F32, (size_t)CLIP_CASES * CLIP_NUMBERS);
    profile_want(check);
    check_memory(check, 0);
    if (check_run(check, "clip", RUN_SECONDS)) {
        const float *got = check_got(check, "clipped", WIRE_F32);
        bool right = true;
        for (int i = 0; i < CLIP_CASES; i++) {
            right = clip_expect(check, given[i], got + (size_t)i * CLIP_NUMBERS) && right;
        }
        if (right) {
            launches_grade(check, "clip_launches", 1, 1);
        }
    }
}

/* ---- bytes of chains ------------------------------------------------------------------------- */

enum { CHAINS = 5, ASKED_NUMBERS = 5, ROUNDS = 3, ASKED = CHAINS * 2 * ROUNDS };

/* A chain, whether it is fused, N, C, r. */
typedef uint64_t ChainAsked[ASKED_NUMBERS];

typedef enum ChainMistake {
    CHAIN_RIGHT,
    CHAIN_SUM_READ,
    CHAIN_NO_BIAS,
    CHAIN_SUM_NOT_KEPT,
    CHAIN_MASKED_WRITTEN,
    CHAIN_GRADIENT_WRITTEN,
    CHAIN_NORM_FUSED,
    CHAIN_LARGE_ALONE,
    CHAIN_NO_WEIGHT,
    CHAIN_STATISTICS_STORED,
    CHAIN_MISTAKES
} ChainMistake;

static const char *const chain_sentence[CHAIN_MISTAKES] = {
    [CHAIN_SUM_READ] = "residual and norm, fused: the norm need not read the sum again",
    [CHAIN_NO_BIAS] = "bias and GELU: the C numbers of the bias are read too",
    [CHAIN_SUM_NOT_KEPT] = "bias and GELU: the sum is written, fused or not: backward needs it",
    [CHAIN_MASKED_WRITTEN] = "dropout and residual, fused: the masked branch is nobody else's, and "
                             "not written",
    [CHAIN_GRADIENT_WRITTEN] = "scale and AdamW, fused: the gradient is read once, and not written",
    [CHAIN_NORM_FUSED] = "norm and scale are two launches either way: no number can be scaled "
                         "before the last one was read",
    [CHAIN_LARGE_ALONE] = "weight, bias, mean and rstd are missing: they are read and written too, "
                          "beside the (N, C) numbers",
    [CHAIN_NO_WEIGHT] = "residual and norm: weight and bias, C numbers each, are read too",
    [CHAIN_STATISTICS_STORED] = "residual and norm: mean and rstd are floats, whatever r is",
};

/* Bytes of the weight, the bias and the statistics of a norm. */
static uint64_t chain_small(uint64_t N, uint64_t C, uint64_t r, ChainMistake mistake) {
    uint64_t read = mistake == CHAIN_NO_WEIGHT ? 0 : 2 * C * r;
    uint64_t written = 2 * N * (mistake == CHAIN_STATISTICS_STORED ? r : sizeof(float));
    return mistake == CHAIN_LARGE_ALONE ? 0 : read + written;
}

static uint64_t chain_as(const ChainAsked asked, ChainMistake mistake) {
    bool fused = asked[1] != 0;
    uint64_t N = asked[2], C = asked[3], r = asked[4], n = N * C;
    switch ((OpChain)asked[0]) {
    case CHAIN_RESIDUAL_NORM:
        return (5 - (fused && mistake != CHAIN_SUM_READ)) * n * r + chain_small(N, C, r, mistake);
    case CHAIN_BIAS_GELU:
        return (4 - fused - (fused && mistake == CHAIN_SUM_NOT_KEPT)) * n * r +
               (mistake == CHAIN_NO_BIAS || mistake == CHAIN_LARGE_ALONE ? 0 : C * r);
    case CHAIN_DROPOUT_RESIDUAL:
        return (5 - 2 * fused + (fused && mistake == CHAIN_MASKED_WRITTEN)) * n * r;
    case CHAIN_SCALE_ADAMW:
        return (36 - 8 * fused + (fused && mistake == CHAIN_GRADIENT_WRITTEN ? 4 : 0)) * n;
    case CHAIN_NORM_SCALE:
        return (fused && mistake == CHAIN_NORM_FUSED ? 8 : 12) * n;
    }
    return 0;
}

/* An int wraps around at 2^32, and what is made of it by + and * is off by a multiple of that. */
static const char CHAIN_IN_INT[] =
    "it is off by a multiple of 2^32: an int overflows on the way; sizes are counted in size_t";

static bool chain_wrapped(uint64_t got, uint64_t right) {
    return (uint32_t)got == (uint32_t)right;
}

static void chain_expect(Check *check, const ChainAsked asked, uint64_t got) {
    static const char *const names[] = {"residual and norm", "bias and GELU",
                                        "dropout and residual", "scale and AdamW",
                                        "norm and scale"};
    uint64_t right = chain_as(asked, CHAIN_RIGHT);
    check_compared(check, got == right,
                   "%s, %s, N %llu C %llu r %llu: %llu bytes, and %llu are right", names[asked[0]],
                   asked[1] ? "fused" : "apart", (unsigned long long)asked[2],
                   (unsigned long long)asked[3], (unsigned long long)asked[4],
                   (unsigned long long)got, (unsigned long long)right);
    for (ChainMistake mistake = CHAIN_RIGHT + 1; mistake < CHAIN_MISTAKES; mistake++) {
        check_suspect(check, chain_sentence[mistake], got == chain_as(asked, mistake));
    }
    check_suspect(check, CHAIN_IN_INT, chain_wrapped(got, right));
}

void chains_grade(Check *check) {
    ChainAsked asked[ASKED];
    for (int i = 0; i < ASKED; i++) {
        bool large = i / CHAINS / 2 == ROUNDS - 1; /* N C needs more than 32 bits */
        uint64_t N = (uint64_t)check_int(check, large ? 2200000 : 3, large ? 3000000 : 100000);
        uint64_t C = (uint64_t)check_int(check, large ? 2000 : 3, 5000);
        asked[i][0] = (uint64_t)(i % CHAINS);
        asked[i][1] = i / CHAINS % 2 != 0;
        asked[i][2] = N;
        asked[i][3] = C;
        asked[i][4] = i / CHAINS / 2 == 1 ? 4 : 2;
    }
    check_give(check, "asked", WIRE_U64, asked, (size_t)ASKED * ASKED_NUMBERS);
    check_want(check, "bytes", WIRE_U64, ASKED);
    check_memory(check, 0);
    if (check_run(check, "chains", RUN_SECONDS)) {
        const uint64_t *got = check_got(check, "bytes", WIRE_U64);
        for (int i = 0; i < ASKED; i++) {
            chain_expect(check, asked[i], got[i]);
        }
    }
}
