/* Shards of an epoch, worked out, and asked for. The contract is in shards.h. */
#include "grader/labs/11_data_parallel/shards.h"

#include "grader/judge_training.h"

/* At most four turns of five ranks and two more, six times; then large ones. */
enum { SHARD_GIVES = 6, SHARD_GETS = 4, SHARD_ASKS = 6 * (4 * 5 + 2) + 5 };

/* A question: who, where, how many. */
typedef struct ShardAsked {
    uint64_t begin, rows, B, rank, ranks, turns;
} ShardAsked;

/* Its rows, the first of them, the row after the turns, and the turns that are left. */
static void shard_right(const ShardAsked *a, uint64_t right[SHARD_GETS]) {
    uint64_t together = a->B * a->ranks, left = a->rows - a->begin;
    uint64_t turns = (left + together - 1) / together, first = a->begin + a->rank * a->B;
    right[1] = first < a->rows ? first : a->rows;
    right[0] = a->rows - right[1] < a->B ? a->rows - right[1] : a->B;
    right[2] = a->turns < turns ? a->begin + a->turns * together : a->rows;
    right[3] = turns;
}

/* Epochs of some turns, one of them without a short one and one with it, whatever is drawn; then
   one that has fewer rows than a micro-batch, and one that has fewer than a turn. */
static uint64_t draw_rows(Check *check, int i, uint64_t B, uint64_t together) {
    int turn = (int)together;
    return (uint64_t)(i == 1   ? 3 * turn
                      : i == 2 ? 3 * turn + check_int(check, 1, turn - 1)
                      : i == 4 ? check_int(check, 2, (int)B - 1)
                      : i == 5 ? check_int(check, (int)B, turn - 1)
                               : 3 * turn + check_int(check, 0, turn - 1));
}

/* Every rank at each turn of an epoch that does not divide, from anywhere in it, and at its end;
   then large ones. One epoch is of a single rank. */
static size_t shards_ask(Check *check, ShardAsked asked[SHARD_ASKS]) {
    size_t count = 0;
    for (int i = 0; i < 6; i++) {
        uint64_t ranks = i == 0 ? 1 : (uint64_t)check_int(check, 2, 5);
        uint64_t B = (uint64_t)check_int(check, i > 3 ? 3 : 1, 4);
        uint64_t together = ranks * B, rows = draw_rows(check, i, B, together);
        for (uint64_t begin = 0; begin < rows; begin += together) {
            for (uint64_t rank = 0; rank < ranks; rank++) {
                asked[count++] = (ShardAsked){begin, rows, B, rank, ranks, 1 + rank};
            }
        }
        uint64_t inside = (uint64_t)check_int(check, 1, (int)rows - 1);
        asked[count++] = (ShardAsked){inside, rows, B, ranks - 1, ranks, (uint64_t)i % 3};
        asked[count++] = (ShardAsked){rows, rows, B, 0, ranks, (uint64_t)i % 3};
    }
    uint64_t many = ((uint64_t)1 << 33) + (uint64_t)check_int(check, 0, 99);
    asked[count++] = (ShardAsked){(uint64_t)1 << 32, many, 1000, 2, 3, 1000000};
    asked[count++] = (ShardAsked){0, many, 1 << 20, 1, 7, (uint64_t)1 << 40};
    asked[count++] = (ShardAsked){0, many, (uint64_t)1 << 31, 2, 3, 1};
    asked[count++] = (ShardAsked){0, many, 1000, 0, 3, (uint64_t)1 << 62};
    asked[count++] = (ShardAsked){0, many, 1, 4, 5, 1000000000};
    return count;
}

static bool shards_run(Check *check, ShardAsked asked[SHARD_ASKS], size_t *count) {
    *count = shards_ask(check, asked);
    check_give(check, "questions", WIRE_U64, asked, *count * SHARD_GIVES);
    check_want(check, "answers", WIRE_U64, *count * SHARD_GETS);
    return check_run(check, "formulas/shards", SECONDS);
}

/* Ways in which turns are counted that are wrong. */
typedef enum TurnsMistake {
    TURNS_WHOLE,
    TURNS_ONE_MORE,
    TURNS_OF_EPOCH,
    TURNS_MISTAKES
} TurnsMistake;

static uint64_t turns_as(const ShardAsked *a, TurnsMistake mistake) {
    uint64_t together = a->B * a->ranks, left = a->rows - a->begin;
    return mistake == TURNS_WHOLE      ? left / together
           : mistake == TURNS_ONE_MORE ? left / together + 1
                                       : (a->rows + together - 1) / together;
}

/* Whether a mistake gives each answer, but for those at the end of an epoch. */
static bool turns_are(const ShardAsked *asked, size_t count, const uint64_t *got,
                      TurnsMistake mistake) {
    for (size_t i = 0; i < count; i++) {
        if (asked[i].begin < asked[i].rows &&
            got[i * SHARD_GETS + 3] != turns_as(&asked[i], mistake)) {
            return false;
        }
    }
    return true;
}

static const char *turns_why(const ShardAsked *asked, size_t count, const uint64_t *got) {
    static const char *const why[TURNS_MISTAKES] = {
        [TURNS_WHOLE] = "after the whole turns, the rows that are left make a short one",
        [TURNS_ONE_MORE] = "where whole turns take all rows that are left, no short one follows",
        [TURNS_OF_EPOCH] = "turns are counted from row `begin` on, and not over the whole epoch",
    };
    for (int m = 0; m < TURNS_MISTAKES; m++) {
        if (turns_are(asked, count, got, (TurnsMistake)m)) {
            return why[m];
        }
    }
    return "all ranks have as many turns, or those that have more wait forever";
}

/* Whether answers `from` to `to` - 1 of each question are right; if not, the first in words. */
static void shards_expect(Check *check, const ShardAsked *asked, size_t count, int from, int to) {
    static const char *const what[] = {"rows", "first row", "end of the turns", "turns"};
    const char *why[SHARD_GETS] = {
        ("the last micro-batch of an epoch is short, and ranks after it have none: no row is "
         "learned from twice"),
        "ranks lie beside each other from where the turn begins; one without rows begins at the "
        "end",
        "a window is the rows of all ranks: what its divisor counts",
    };
    const uint64_t *got = check_got(check, "answers", WIRE_U64);
    for (size_t i = 0; i < count; i++) {
        uint64_t right[SHARD_GETS];
        shard_right(&asked[i], right);
        for (int k = from; k < to; k++) {
            uint64_t answer = got[i * SHARD_GETS + (size_t)k];
            if (answer != right[k]) {
                const ShardAsked *a = &asked[i];
                if (answer > a->rows) {
                    why[2] = "the epoch ends with its last row, and so does the window";
                }
                why[3] = turns_why(asked, count, got);
                check_fail(check,
                           "%s: %llu, %llu is right for rank %llu of %llu at row %llu of %llu, B = "
                           "%llu, %llu turns: %s",
                           what[k], (unsigned long long)answer, (unsigned long long)right[k],
                           (unsigned long long)a->rank, (unsigned long long)a->ranks,
                           (unsigned long long)a->begin, (unsigned long long)a->rows,
                           (unsigned long long)a->B, (unsigned long long)a->turns, why[k]);
                return;
            }
        }
    }
    check_good(check);
}

static void shards_judge(Check *check, int from, int to) {
    ShardAsked asked[SHARD_ASKS];
    size_t count;
    if (shards_run(check, asked, &count)) {
        shards_expect(check, asked, count, from, to);
    }
}

void shards_judge_rows(Check *check) {
    shards_judge(check, 0, 2);
}

void shards_judge_turns(Check *check) {
    shards_judge(check, 2, 4);
}
