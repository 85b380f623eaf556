#include "kernels/philox.h"

#include <criterion/criterion.h>

typedef struct Vector {
    uint32_t counter[4], key[2], want[4];
} Vector;

/* Known answers of Philox4x32-10, as published with the authors'
   Random123 library (kat_vectors). */
static const Vector vectors[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static uint64_t join(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}

Test(philox, published_vectors) {
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const Vector *v = &vectors[i];
        Philox got = philox(join(v->counter[0], v->counter[1]), join(v->counter[2], v->counter[3]),
                            join(v->key[0], v->key[1]));
        for (int w = 0; w < 4; w++) {
            cr_assert_eq(got.word[w], v->want[w], "vector %zu word %d: %08x", i, w, got.word[w]);
        }
    }
}

Test(philox, uniform_stays_below_one) {
    cr_assert_eq(philox_uniform(0), 0.0f);
    cr_assert(philox_uniform(0xffffffff) < 1.0f);
    cr_assert_eq(philox_uniform(0x80000000), 0.5f);
}
