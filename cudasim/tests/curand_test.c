/* The numbers of cuRAND's generators for the host, without a stream: the order of threads that take
   turns, and parts of a sequence. The numbers to compare with are those of NVIDIA's library. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "cudasim/curand_draw.h"

enum { PHILOX_TURNS = 4 * 65536, XORWOW_TURNS = 4096, MOST = PHILOX_TURNS + 4 };

static Sequence *sequence_at(bool philox, uint64_t seed, uint64_t offset) {
    Sequence *s = sequence_new(philox);
    sequence_seed(s, seed);
    sequence_offset(s, offset);
    return s;
}

/* A double takes two words, so a thread that has given one is further on when its turn comes. */
Test(curand, words_go_on_after_doubles) {
    static const struct {
        bool philox;
        uint64_t seed, offset;
        int turns; /* of all threads */
        uint32_t words[3];
    } rows[] = {
        {false, 0, 0, XORWOW_TURNS, {0xc3304aab, 0xe53aacd8, 0x53afa14d}},
        {false, 1234, 4094, XORWOW_TURNS, {0xfffc07d5, 0x886d4376, 0x967569c9}},
        {false, 81985529216486895, 1000000007, XORWOW_TURNS, {0x0e8561d1, 0x1f682826, 0x1152db28}},
        {true, 0, 0, PHILOX_TURNS, {0x804f7307, 0x4640c2b3, 0xb3072aa0}},
        {true, 1234, 262142, PHILOX_TURNS, {0x013f0f27, 0x2a9f1d57, 0xb4ff667b}},
        {true, 81985529216486895, 1000000007, PHILOX_TURNS, {0x9b65af89, 0xc6309306, 0x7dadb6cf}},
    };
    static double doubles[5000];
    static unsigned words[MOST];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Sequence *s = sequence_at(rows[i].philox, rows[i].seed, rows[i].offset);
        sequence_draw(s, &(Law){.kind = UNIFORM_DOUBLE}, doubles, 5000);
        sequence_draw(s, &(Law){.kind = WORDS}, words, (size_t)rows[i].turns + 4);
        cr_expect_eq(words[0], rows[i].words[0], "row %zu, at once", i);
        cr_expect_eq(words[rows[i].turns - 2000], rows[i].words[1], "row %zu, other turns", i);
        cr_expect_eq(words[rows[i].turns + 3], rows[i].words[2], "row %zu, a turn later", i);
        sequence_free(s);
    }
}

static void is_one_sequence(bool philox, Law law) {
    enum { COUNT = 9000, PART = 4098 };
    static double whole[COUNT], parts[COUNT];
    Sequence *once = sequence_at(philox, 5, 1), *twice = sequence_at(philox, 5, 1);
    sequence_draw(once, &law, whole, COUNT);
    sequence_draw(twice, &law, parts, PART);
    sequence_draw(twice, &law, (char *)parts + PART * law_bytes(&law), COUNT - PART);
    cr_expect(memcmp(whole, parts, COUNT * law_bytes(&law)) == 0, "kind %d", law.kind);
    sequence_free(once);
    sequence_free(twice);
}

Test(curand, two_parts_are_the_whole) {
    for (NumberKind kind = WORDS; kind <= POISSON; kind++) {
        is_one_sequence(false, (Law){kind, 3, 0.5});
        is_one_sequence(true, (Law){kind, 3, 0.5});
    }
}

/* Each count comes as often as Poisson says, within five deviations of a binomial number. */
Test(curand, counts_are_poissons) {
    enum { COUNT = 1 << 16, KINDS = 20 };
    static unsigned counts[COUNT];
    const double mean = 4.5;
    int times[KINDS] = {0};
    Sequence *s = sequence_at(true, 1, 0);
    sequence_draw(s, &(Law){POISSON, mean, 0}, counts, COUNT);
    for (int i = 0; i < COUNT; i++) {
        times[counts[i] < KINDS ? counts[i] : KINDS - 1]++;
    }
    for (int k = 0; k < KINDS - 1; k++) {
        double chance = exp(k * log(mean) - mean - lgamma(k + 1.0));
        double deviation = sqrt(COUNT * chance * (1 - chance));
        cr_expect(fabs(times[k] - COUNT * chance) < 5 * deviation + 1, "%d comes %d times", k,
                  times[k]);
    }
    sequence_free(s);
}

Test(curand, large_counts_are_near_their_mean) {
    enum { COUNT = 1000 };
    static unsigned counts[COUNT];
    const double mean = 400000;
    Sequence *s = sequence_at(false, 1, 0);
    sequence_draw(s, &(Law){POISSON, mean, 0}, counts, COUNT);
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        sum += counts[i];
    }
    cr_expect(fabs(sum / COUNT - mean) < 5 * sqrt(mean / COUNT), "the mean is %g", sum / COUNT);
    sequence_free(s);
}
