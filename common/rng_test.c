#include "common/rng.h"

#include <criterion/criterion.h>
#include <math.h>

#include "kernels/philox.h"

Test(rng, a_copy_is_a_place_to_go_back_to) {
    Rng rng = rng_new(1, RNG_DROPOUT), saved;
    rng_uniform(&rng);
    saved = rng;
    float first = rng_uniform(&rng), second = rng_uniform(&rng);
    rng = saved;
    cr_assert_eq(rng_uniform(&rng), first);
    cr_assert_eq(rng_uniform(&rng), second);
    cr_assert_neq(first, second);
}

Test(rng, take_moves_on) {
    Rng rng = rng_new(1, RNG_DROPOUT);
    cr_assert_eq(rng_take(&rng, 5), 0);
    cr_assert_eq(rng_take(&rng, 0), 5);
    cr_assert_eq(rng_take(&rng, 1ull << 40), 5);
    cr_assert_eq(rng.offset, 5 + (1ull << 40));
}

Test(rng, streams_and_seeds_differ) {
    Rng a = rng_new(1, RNG_DROPOUT), b = rng_new(1, RNG_WEIGHTS), c = rng_new(2, RNG_DROPOUT);
    uint64_t x = rng_below(&a, UINT64_MAX), y = rng_below(&b, UINT64_MAX);
    uint64_t z = rng_below(&c, UINT64_MAX);
    cr_assert(x != y && x != z && y != z);
    Philox first = philox(0, RNG_WEIGHTS, 1);
    cr_assert_eq(y, (uint64_t)first.word[1] << 32 | first.word[0]);
}

Test(rng, below_is_uniform) {
    Rng rng = rng_new(3, RNG_DATA);
    int count[7] = {0};
    for (int i = 0; i < 70000; i++) {
        count[rng_below(&rng, 7)]++;
    }
    for (int i = 0; i < 7; i++) {
        cr_assert(abs(count[i] - 10000) < 500, "%d: %d", i, count[i]);
    }
    cr_assert_eq(rng_below(&rng, 1), 0);
}

Test(rng, normal_has_mean_and_deviation) {
    enum { N = 100001 };
    static float x[N];
    Rng rng = rng_new(4, RNG_WEIGHTS);
    double sum = 0, squares = 0;
    rng_normal(&rng, x, N, 2);
    cr_assert_eq(rng.offset, (N + 1) / 2);
    for (int i = 0; i < N; i++) {
        cr_assert(isfinite(x[i]));
        sum += (double)x[i];
        squares += (double)x[i] * (double)x[i];
    }
    cr_assert(fabs(sum / N) < 0.03 && fabs(squares / N - 4) < 0.08, "%g %g", sum / N, squares / N);
}
