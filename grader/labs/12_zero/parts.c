#include "grader/labs/12_zero/parts.h"

#include <stdio.h>

#include "grader/judge_training.h"
#include "grader/labs/12_zero/cut.h"

enum { PARTS_ASKED = 24, PIECES_ASKED = 60 };

/* Length and ranks of each question: a label has them. */
static uint64_t parts_asked[2 * PARTS_ASKED];

static const char *parts_label(size_t i, char *text) {
    snprintf(text, CHECK_LABEL, "shard_part(%llu, %llu)", (unsigned long long)parts_asked[2 * i],
             (unsigned long long)parts_asked[2 * i + 1]);
    return text;
}

void parts_judge(Check *check) {
    uint64_t right[PARTS_ASKED], cut[PARTS_ASKED], up[PARTS_ASKED];
    uint64_t less[PARTS_ASKED], others[TERM_MOST][PARTS_ASKED], all;
    const uint64_t step = TERM_PART_IS, steps[] = TERM_PART_EACH;
    const Term term = TERM_PART;
    for (size_t i = 0; i < PARTS_ASKED; i++) {
        uint64_t blocks = (uint64_t)check_int(check, 1, i % 4 == 0 ? 6 : 3000);
        uint64_t R = i == 0 ? 1 : (uint64_t)check_int(check, 2, i % 3 == 0 ? 64 : 9);
        all = step * R;
        blocks = i == 1 ? (uint64_t)1 << 30 : i % 5 == 2 ? blocks * all : blocks;
        parts_asked[2 * i] = blocks * TENSOR_BLOCK;
        parts_asked[2 * i + 1] = R;
        right[i] = cut_share(blocks, R, step) * TENSOR_BLOCK;
        less[i] = blocks / all * step * TENSOR_BLOCK;
        up[i] = (blocks / all + 1) * step * TENSOR_BLOCK;
        cut[i] = (blocks * TENSOR_BLOCK + R - 1) / R;
        for (int k = 0; k < term.count; k++) {
            others[k][i] = cut_share(blocks, R, steps[k]) * TENSOR_BLOCK;
        }
    }
    check_give(check, "asked", WIRE_U64, parts_asked, 2 * PARTS_ASKED);
    check_want(check, "answers", WIRE_U64, PARTS_ASKED);
    if (check_run(check, "formulas/parts", SECONDS)) {
        ExactSuspect suspects[3 + TERM_MOST] = {
            {"rounded down: R parts do not hold the unit", less},
            {"too many where R equal parts hold the unit and nothing is left", up},
            {"cut between any two numbers: parts are whole blocks of TENSOR_BLOCK", cut}};
        char text[TERM_MOST][TERM_TEXT];
        int count = 3;
        for (int k = 0; k < term.count; k++) {
            if (k != term.now) {
                suspects[count++] = (ExactSuspect){term_mistake(&term, k, text[k]), others[k]};
            }
        }
        check_equal_of(check, "answers", parts_label, right, PARTS_ASKED, suspects, count);
    }
}

/* Question i: a tensor of some unit, and a part of it. Some parts begin beyond 2^32 numbers; there
   the tensor has few, for they are counted. */
static void ask_piece(Check *check, size_t i, uint64_t q[4]) {
    bool large = i % 10 == 9;
    uint64_t most = (uint64_t)check_int(check, 1, 9) * TENSOR_BLOCK;
    uint64_t part = large ? (uint64_t)1 << 30 : most;
    uint64_t rank = large ? 5 : (uint64_t)check_int(check, 0, 5), from = part * rank;
    uint64_t any = (uint64_t)check_int(check, 1, (int)most);
    uint64_t before = (uint64_t)check_int(check, 0, 4) * TENSOR_BLOCK;
    before = before > from ? from : before;
    q[2] = part;
    q[3] = rank;
    bool none_before = i % 6 == 4 && before == 0, beyond = i % 6 == 2 || i % 6 == 3;
    switch (none_before ? 5 : large && beyond ? 1 : i % 6) {
    case 0: /* within the part */
        q[0] = from, q[1] = any;
        break;
    case 1: /* begins before it, and ends in it */
        q[0] = from - before, q[1] = before + any;
        break;
    case 2: /* begins in it, and ends after it */
        q[0] = from + (any - 1) / TENSOR_BLOCK * TENSOR_BLOCK, q[1] = part + any;
        break;
    case 3: /* goes through it */
        q[0] = from - before, q[1] = before + part + any;
        break;
    case 4: /* before it */
        q[0] = from - before, q[1] = before;
        break;
    default: /* after it */
        q[0] = from + part, q[1] = any;
    }
}

static void right_piece(const uint64_t q[4], uint64_t piece[3]) {
    uint64_t from = q[2] * q[3], n = 0, first = 0, at = 0;
    for (uint64_t j = 0; j < q[1]; j++) { /* number by number */
        uint64_t place = q[0] + j;
        if (place / q[2] == q[3]) {
            first = n == 0 ? j : first;
            at = n == 0 ? place - from : at;
            n++;
        }
    }
    piece[0] = n > 0 ? first : 0;
    piece[1] = n;
    piece[2] = n > 0 ? at : q[0] < from ? 0 : q[2];
}

void pieces_judge(Check *check) {
    uint64_t asked[4 * PIECES_ASKED], right[3 * PIECES_ASKED];
    for (size_t i = 0; i < PIECES_ASKED; i++) {
        ask_piece(check, i, asked + 4 * i);
        right_piece(asked + 4 * i, right + 3 * i);
    }
    check_give(check, "asked", WIRE_U64, asked, 4 * PIECES_ASKED);
    check_want(check, "answers", WIRE_U64, 3 * PIECES_ASKED);
    if (!check_run(check, "formulas/pieces", SECONDS)) {
        return;
    }
    const uint64_t *got = check_got(check, "answers", WIRE_U64);
    for (size_t i = 0; i < 3 * PIECES_ASKED; i++) {
        const uint64_t *q = asked + 4 * (i / 3);
        if (got[i] != right[i]) {
            check_fail(check,
                       "a tensor of %llu numbers at %llu, parts of %llu, rank %llu: %s is %llu, "
                       "%llu is right: %s",
                       (unsigned long long)q[1], (unsigned long long)q[0], (unsigned long long)q[2],
                       (unsigned long long)q[3],
                       i % 3 == 0   ? "first"
                       : i % 3 == 1 ? "count"
                                    : "at",
                       (unsigned long long)got[i], (unsigned long long)right[i],
                       right[3 * (i / 3) + 1] == 0
                           ? "the rank has none of it; `at` is 0 or the end of the part"
                           : "where do [begin, begin + count) and the part overlap?");
            return;
        }
    }
    check_good(check);
}
