#include "kernels/half.h"

#include <criterion/criterion.h>
#include <math.h>

/* fp16 by its definition: sign, 5 bits of exponent with bias 15, 10 bits of fraction. */
static double half_value(uint16_t half) {
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double magnitude = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return half >> 15 ? -magnitude : magnitude;
}

static bool half_is_special(uint16_t half) {
    return (half >> 10 & 31) == 31;
}

Test(half, every_half_to_float) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t half = (uint16_t)bits;
        float got = half_to_float(half);
        if (!half_is_special(half)) {
            float want = (float)half_value(half);
            cr_assert_eq(float_bits(got), float_bits(want), "0x%04x: %a, not %a", bits, (double)got,
                         (double)want);
        } else if ((half & 1023) == 0) {
            cr_assert(isinf(got) && (got < 0) == (half >> 15), "0x%04x", bits);
        } else {
            /* A NaN stays one, is quiet, and keeps sign and payload. */
            uint32_t want =
                (uint32_t)(half & 0x8000) << 16 | 0x7fc00000u | (uint32_t)(half & 1023) << 13;
            cr_assert_eq(float_bits(got), want, "0x%04x: 0x%08x", bits, float_bits(got));
        }
    }
}

Test(half, every_half_comes_back) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t half = (uint16_t)bits, back = half_from_float(half_to_float(half));
        uint16_t want = half_is_special(half) && (half & 1023) ? half | 0x200 : half;
        cr_assert_eq(back, want, "0x%04x came back as 0x%04x", half, back);
    }
}

/* Each midpoint between neighbours goes to the even one, its own neighbours to the nearer one. */
Test(half, every_midpoint_and_its_neighbours) {
    for (uint16_t low = 0; low < 0x7c00; low++) {
        uint16_t high = low + 1; /* 0x7c00 is infinity: the rule is the same with 65536 for it */
        double above = high == 0x7c00 ? 65536 : half_value(high);
        float midpoint = (float)((half_value(low) + above) / 2);
        uint16_t even = low & 1 ? high : low;
        for (int sign = 0; sign < 2; sign++) {
            uint16_t s = (uint16_t)(sign << 15);
            float m = sign ? -midpoint : midpoint;
            float below_m = nextafterf(midpoint, 0), above_m = nextafterf(midpoint, INFINITY);
            cr_assert_eq(half_from_float(m), s | even, "midpoint above 0x%04x", low);
            cr_assert_eq(half_from_float(sign ? -below_m : below_m), s | low, "below, 0x%04x", low);
            cr_assert_eq(half_from_float(sign ? -above_m : above_m), s | high, "above, 0x%04x",
                         low);
        }
    }
}

Test(half, edges) {
    cr_assert_eq(half_from_float(65504), 0x7bff);
    cr_assert_eq(half_from_float(nextafterf(65520, 0)), 0x7bff);
    cr_assert_eq(half_from_float(65520), 0x7c00);
    cr_assert_eq(half_from_float(INFINITY), 0x7c00);
    cr_assert_eq(half_from_float(-INFINITY), 0xfc00);
    cr_assert_eq(half_from_float(0x1p-25f), 0);
    cr_assert_eq(half_from_float(nextafterf(0x1p-25f, 1)), 1);
    cr_assert_eq(half_from_float(-0.0f), 0x8000);
    cr_assert_eq(half_from_float(float_from_bits(0x7f800001u)) & 0x7e00, 0x7e00);
    cr_assert_eq(half_from_float(float_from_bits(1)), 0);
}

Test(bf16, every_bf16_comes_back) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t bf16 = (uint16_t)bits;
        cr_assert_eq(float_bits(bf16_to_float(bf16)), bits << 16);
        bool nan = (bf16 & 0x7f80) == 0x7f80 && (bf16 & 0x7f);
        cr_assert_eq(bf16_from_float(bf16_to_float(bf16)), nan ? bf16 | 0x40 : bf16);
    }
}

Test(bf16, every_midpoint_and_its_neighbours) {
    for (uint32_t low = 0; low < 0x7f80; low++) {
        uint32_t midpoint = low << 16 | 0x8000u, even = low + (low & 1);
        cr_assert_eq(bf16_from_float(float_from_bits(midpoint)), even);
        cr_assert_eq(bf16_from_float(float_from_bits(midpoint - 1)), low);
        cr_assert_eq(bf16_from_float(float_from_bits(midpoint + 1)), low + 1);
        cr_assert_eq(bf16_from_float(float_from_bits(midpoint | 0x80000000u)), even | 0x8000);
    }
}

/* The run conversions against the scalar ones: every half, and floats of every exponent. */
Test(half, runs_have_the_same_bits) {
    static uint16_t halves[65536 + 5], back[65536 + 5];
    static float floats[65536 + 5];
    for (uint32_t i = 0; i < 65536 + 5; i++) {
        halves[i] = (uint16_t)i;
    }
    half_run_to_float(floats, halves, 65536 + 5);
    half_run_from_float(back, floats, 65536 + 5);
    for (uint32_t i = 0; i < 65536 + 5; i++) {
        cr_assert_eq(float_bits(floats[i]), float_bits(half_to_float(halves[i])), "0x%04x", i);
        cr_assert_eq(back[i], half_from_float(floats[i]), "0x%04x", i);
    }
    for (uint32_t i = 0; i < 65536 + 5; i++) {
        floats[i] = float_from_bits(i * 65537u * 2654435761u);
    }
    half_run_from_float(back, floats, 65536 + 5);
    for (uint32_t i = 0; i < 65536 + 5; i++) {
        cr_assert_eq(back[i], half_from_float(floats[i]), "0x%08x", float_bits(floats[i]));
    }
}
