/* Collectives without any transport: the arithmetic, the lengths, the words. */
#include "cudasim/nccl/collective.h"

#include <criterion/criterion.h>
#include <math.h>

#include "kernels/half.h"

enum { MOST = 8 };

/* One element of each rank, reduced. */
#define REDUCED(type, nccl_type, op, ...)                                                          \
    ({                                                                                             \
        const type numbers_[] = {__VA_ARGS__};                                                     \
        const void *in_[MOST];                                                                     \
        int ranks_ = (int)(sizeof numbers_ / sizeof numbers_[0]);                                  \
        type out_;                                                                                 \
        for (int r_ = 0; r_ < ranks_; r_++) {                                                      \
            in_[r_] = &numbers_[r_];                                                               \
        }                                                                                          \
        collective_reduce(&out_, in_, ranks_, 1, nccl_type, op);                                   \
        out_;                                                                                      \
    })
#define FLOATS(op, ...) REDUCED(float, ncclFloat32, op, __VA_ARGS__)

/* ---- sums ------------------------------------------------------------------------------------ */

Test(collective, sums_go_in_the_order_of_ranks) {
    cr_assert_eq(FLOATS(ncclSum, 0x1p24f, 1, 1), 0x1p24f);
    cr_assert_eq(FLOATS(ncclSum, 1, 1, 0x1p24f), 0x1p24f + 2);
    cr_assert_eq(REDUCED(double, ncclFloat64, ncclSum, 0x1p53, 1, 1), 0x1p53);
    cr_assert_eq(REDUCED(double, ncclFloat64, ncclSum, 1, 1, 0x1p53), 0x1p53 + 2);
}

/* Rounded after each rank, the ones would be lost. */
Test(collective, halves_are_rounded_once) {
    uint16_t half = REDUCED(uint16_t, ncclFloat16, ncclSum, half_from_float(2048),
                            half_from_float(1), half_from_float(1));
    uint16_t bf16 = REDUCED(uint16_t, ncclBfloat16, ncclSum, bf16_from_float(256),
                            bf16_from_float(1), bf16_from_float(1));
    cr_assert_eq(half_to_float(half), 2050);
    cr_assert_eq(bf16_to_float(bf16), 258);
}

Test(collective, averages_divide_the_sum) {
    cr_assert_eq(FLOATS(ncclAvg, 1, 2, 2), 5.0f / 3);
    cr_assert_neq(5.0f / 3, 5 * (1.0f / 3), "the numbers tell the two ways apart");
    cr_assert_eq(REDUCED(double, ncclFloat64, ncclAvg, 1, 2, 2), 5.0 / 3);
    cr_assert_eq(REDUCED(int32_t, ncclInt32, ncclAvg, -2, -1), -1, "towards zero");
    cr_assert_eq(REDUCED(uint8_t, ncclUint8, ncclAvg, 7, 6), 6);
}

Test(collective, integers_wrap_around_in_their_type) {
    cr_assert_eq(REDUCED(int8_t, ncclInt8, ncclSum, 100, 100), -56);
    cr_assert_eq(REDUCED(int8_t, ncclInt8, ncclAvg, 100, 100), -28, "the sum has wrapped around");
    cr_assert_eq(REDUCED(uint8_t, ncclUint8, ncclAvg, 200, 200), 72);
    cr_assert_eq(REDUCED(uint32_t, ncclUint32, ncclSum, UINT32_MAX, 2), 1);
    cr_assert_eq(REDUCED(int32_t, ncclInt32, ncclProd, 1 << 20, 1 << 20), 0);
    cr_assert_eq(REDUCED(int64_t, ncclInt64, ncclSum, INT64_MAX, 1), INT64_MIN);
    cr_assert_eq(REDUCED(uint64_t, ncclUint64, ncclProd, UINT64_MAX, 2), UINT64_MAX - 1);
}

Test(collective, signs_decide_the_largest) {
    cr_assert_eq(REDUCED(int8_t, ncclInt8, ncclMax, -1, 1, -128), 1);
    cr_assert_eq(REDUCED(int8_t, ncclInt8, ncclMin, -1, 1, -128), -128);
    cr_assert_eq(REDUCED(uint8_t, ncclUint8, ncclMax, 255, 1), 255);
    cr_assert_eq(REDUCED(int64_t, ncclInt64, ncclMin, -1, 1), -1);
    cr_assert_eq(REDUCED(uint64_t, ncclUint64, ncclMax, UINT64_MAX, 1), UINT64_MAX);
    cr_assert_eq(FLOATS(ncclProd, 3, -2, 5), -30);
}

Test(collective, max_and_min_pass_over_nan) {
    cr_assert_eq(FLOATS(ncclMax, 1, NAN, 2), 2);
    cr_assert_eq(FLOATS(ncclMin, NAN, 1, 2), 1);
    cr_assert(isnan(FLOATS(ncclMax, NAN, NAN)));
    cr_assert(isnan(FLOATS(ncclSum, 1, NAN)));
    cr_assert(isnan(REDUCED(double, ncclFloat64, ncclProd, (double)NAN, 1)));
}

/* More than a block of the work, in place. */
Test(collective, arrays_have_any_length) {
    enum { COUNT = 2501 };
    static float x[3][COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[0][i] = (float)i;
        x[1][i] = 1;
        x[2][i] = 2;
    }
    collective_reduce(x[1], (const void *[]){x[0], x[1], x[2]}, 3, COUNT, ncclFloat32, ncclSum);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(x[1][i], (float)(i + 3), "%d", i);
    }
}

/* ---- lengths --------------------------------------------------------------------------------- */

static CollectiveCall call(CollectiveKind kind, int rank, int peer) {
    return (CollectiveCall){.kind = kind,
                            .count = 12,
                            .type = ncclFloat32,
                            .rank = rank,
                            .ranks = 4,
                            .peer = peer,
                            .number = 3,
                            .place = {"some/where/ddp.c", 41}};
}

Test(collective, each_kind_reads_and_stores_its_length) {
    static const struct {
        CollectiveKind kind;
        size_t in[2], out[2]; /* of rank 0, the root, and of rank 1 */
    } kinds[] = {
        {COLLECTIVE_ALL_REDUCE, {48, 48}, {48, 48}},
        {COLLECTIVE_REDUCE, {48, 48}, {48, 0}},
        {COLLECTIVE_REDUCE_SCATTER, {192, 192}, {48, 48}},
        {COLLECTIVE_ALL_GATHER, {48, 48}, {192, 192}},
        {COLLECTIVE_BROADCAST, {48, 0}, {48, 48}},
        {COLLECTIVE_SEND, {48, 48}, {0, 0}},
        {COLLECTIVE_RECV, {0, 0}, {48, 48}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (int rank = 0; rank < 2; rank++) {
            CollectiveCall c = call(kinds[i].kind, rank, 0);
            cr_assert_eq(collective_in_bytes(&c), kinds[i].in[rank], "%zu", i);
            cr_assert_eq(collective_out_bytes(&c), kinds[i].out[rank], "%zu", i);
        }
    }
}

/* The bytes of all ranks together: for a broadcast and a reduction three of four send the whole. */
Test(collective, wire_bytes_are_those_of_a_ring) {
    static const struct {
        CollectiveKind kind;
        double all;
    } kinds[] = {
        {COLLECTIVE_ALL_REDUCE, 4 * 72},
        {COLLECTIVE_REDUCE, 3 * 48},
        {COLLECTIVE_REDUCE_SCATTER, 4 * 144},
        {COLLECTIVE_ALL_GATHER, 4 * 144},
        {COLLECTIVE_BROADCAST, 3 * 48},
        {COLLECTIVE_SEND, 3 * 48},
        {COLLECTIVE_RECV, 0},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        double all = 0;
        for (int rank = 0; rank < 4; rank++) {
            CollectiveCall c = call(kinds[i].kind, rank, 2);
            all += collective_wire_bytes(&c);
        }
        cr_assert_eq(all, kinds[i].all, "%zu: %g", i, all);
    }
    CollectiveCall last = call(COLLECTIVE_BROADCAST, 1, 2), root = call(COLLECTIVE_REDUCE, 2, 2);
    cr_assert(collective_wire_bytes(&last) == 0 && collective_wire_bytes(&root) == 0);
}

/* ---- words ----------------------------------------------------------------------------------- */

Test(collective, words_name_what_must_match) {
    char text[COLLECTIVE_TEXT];
    CollectiveCall c = call(COLLECTIVE_REDUCE, 0, 2);
    collective_describe(&c, text);
    cr_assert_str_eq(text, "ncclReduce #3 (12 x float, sum, root 2, ddp.c:41)");
    c = call(COLLECTIVE_SEND, 0, 2);
    collective_describe(&c, text);
    cr_assert_str_eq(text, "ncclSend #3 to rank 2 (12 x float, ddp.c:41)");
    c = call(COLLECTIVE_ALL_GATHER, 0, -1);
    collective_describe(&c, text);
    cr_assert_str_eq(text, "ncclAllGather #3 (12 x float, ddp.c:41)");
    cr_assert_null(collective_type_name((ncclDataType_t)ncclNumTypes));
    cr_assert_null(collective_op_name(ncclNumOps));
}

/* ---- the work -------------------------------------------------------------------------------- */

/* Every kind, with two ranks, in place where that is another thing. */
Test(collective, ranks_get_what_is_theirs) {
    float x[2][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}}, y[2][4] = {{0}};
    CollectiveCall c[2];
    const CollectiveCall *calls[] = {&c[0], &c[1]};
    for (int r = 0; r < 2; r++) {
        c[r] = (CollectiveCall){.kind = COLLECTIVE_REDUCE_SCATTER,
                                .in = x[r],
                                .out = &x[r][2 * r],
                                .count = 2,
                                .type = ncclFloat32,
                                .rank = r,
                                .ranks = 2,
                                .peer = 1};
    }
    collective_run(calls, 2);
    cr_assert(x[0][0] == 11 && x[0][1] == 22 && x[1][2] == 33 && x[1][3] == 44);
    cr_assert(x[0][2] == 3 && x[1][0] == 10, "the rest stays");
    for (int r = 0; r < 2; r++) {
        c[r].kind = COLLECTIVE_ALL_GATHER;
        c[r].in = &x[r][2 * r];
        c[r].out = x[r];
    }
    collective_run(calls, 2);
    cr_assert_arr_eq(x[0], x[1], sizeof x[0]);
    cr_assert(x[0][0] == 11 && x[0][3] == 44);
    c[0].kind = c[1].kind = COLLECTIVE_REDUCE;
    c[1].out = y[1];
    collective_run(calls, 2);
    cr_assert(y[1][0] == 11 + 33 && y[1][1] == 22 + 44);
    c[0].kind = c[1].kind = COLLECTIVE_BROADCAST;
    c[0].out = y[0];
    collective_run(calls, 2);
    cr_assert(y[0][0] == 33 && y[1][1] == 44);
}
