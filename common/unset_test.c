#include "common/unset.h"

#include <criterion/criterion.h>

/* Sizes and counts as gcc and clang leave them, and after something was added. */
Test(unset, numbers_are_known) {
    static const uint64_t unset[] = {0xfefefefefefefefe, 0xfefefefefefefefe + 1000000,
                                     0xaaaaaaaaaaaaaaaa, (uint64_t)(int32_t)0xfefefefe,
                                     0xfefefefe,         (uint64_t)(int32_t)0xaaaaaaaa};
    static const uint64_t set[] = {0, 1, UINT64_MAX, (uint64_t)-3, (uint64_t)3 << 32, 1u << 31};
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++) {
        cr_expect(unset_number(unset[i]), "%zu", i);
        cr_expect(!unset_number(set[i]), "%zu", i);
    }
}

Test(unset, floats_are_known) {
    cr_expect(unset_float(-1.694739e38f) && unset_float(-1.694739e38f + 1e6f));
    cr_expect(!unset_float(0) && !unset_float(1.694739e38f) && !unset_float(-3e38f));
    cr_expect(!unset_float(-__builtin_inff()) && !unset_float(__builtin_nanf("")));
}

Test(unset, addresses_are_known_up_to_16_megabytes) {
    uint64_t gcc = 0xfefefefefefefefe, clang = 0xaaaaaaaaaaaaaaaa;
    cr_expect(unset_address(gcc) && unset_address(clang));
    cr_expect(unset_address(gcc + (15 << 20)) && unset_address(gcc - (15 << 20)));
    cr_expect(unset_address(clang + (15 << 20)) && unset_address(clang - (15 << 20)));
    cr_expect(!unset_address(gcc + (17 << 20)) && !unset_address(clang - (17 << 20)));
    cr_expect(unset_address(gcc & 0xffffffffffff));
    cr_expect(!unset_address(0) && !unset_address(0x7fff12345678) && !unset_address(UINT64_MAX));
}
