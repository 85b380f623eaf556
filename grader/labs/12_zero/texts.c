#include "grader/labs/12_zero/texts.h"

#include <string.h>

#include "grader/labs/12_zero/run.h"

enum { TEXT_RANKS = 3 };

static bool start_texts(Check *check, ZeroRun *run, const int32_t counts[TEXT_RANKS]) {
    int32_t length = run->option[ZERO_TEXT] = check_int(check, 3, 5);
    int32_t prompts[TEXT_RANKS * 5];
    for (int i = 0; i < TEXT_RANKS * length; i++) {
        prompts[i] = check_int(check, 0, run->given.config.V - 1);
    }
    ranks_give(check, run->option, 0);
    given_give(&run->given);
    check_give(check, "prompts", WIRE_I32, prompts, (size_t)(TEXT_RANKS * length));
    check_give(check, "counts", WIRE_I32, counts, TEXT_RANKS);
    check_want(check, "texts", WIRE_U64, TEXT_RANKS * TEXT_NUMBERS);
    return check_run_kit(check, "texts", SECONDS);
}

/* All texts are drawn when zero_generate() is called once more. */
static void expect_no_more(Check *check) {
    const uint64_t *got = check_got(check, "texts", WIRE_U64);
    for (int r = 0; r < TEXT_RANKS; r++, got += TEXT_NUMBERS) {
        if (got[TEXT_MORE] != 0) {
            check_fail(check,
                       "called again, when all ranks have their text, rank %d makes %llu steps "
                       "more: ask before each step, the first one too",
                       r, (unsigned long long)got[TEXT_MORE]);
            return;
        }
    }
    check_good(check);
}

/* Every row of the table against the kit's, and how often the model has run. */
static void expect_texts(Check *check, const uint64_t *right, uint64_t most) {
    const uint64_t *got = check_got(check, "texts", WIRE_U64);
    for (int r = 0; r < TEXT_RANKS; r++, got += TEXT_NUMBERS, right += TEXT_NUMBERS) {
        uint64_t runs = most > 0 ? most : right[TEXT_RUNS];
        if (memcmp(got + TEXT_DRAWN, right + TEXT_DRAWN, TEXT_MOST * sizeof *got) != 0) {
            check_fail(check, "rank %d has drawn another text than a whole model draws", r);
        } else if (got[TEXT_RUNS] != runs) {
            check_fail(check, "rank %d has run the model %llu times, %llu are right: %s", r,
                       (unsigned long long)got[TEXT_RUNS], (unsigned long long)runs,
                       most > 0 ? "as often as the rank that draws most"
                                : "up to stage 2 no rank needs another");
        } else if (got[TEXT_STEPS] != runs) {
            check_fail(check, "rank %d says %llu steps, and has made %llu", r,
                       (unsigned long long)got[TEXT_STEPS], (unsigned long long)runs);
        } else {
            continue;
        }
        return;
    }
    expect_no_more(check);
}

void texts_judge(Check *check, int stage) {
    ZeroRun *run = zero_run(check, stage, TEXT_RANKS, 1, F32);
    run->option[RANKS_GPU] = stage == 3; /* its memory the host cannot touch */
    uint64_t right[TEXT_RANKS * TEXT_NUMBERS];
    int32_t counts[TEXT_RANKS] = {check_int(check, 0, 3), check_int(check, 0, 3),
                                  check_int(check, 0, 3)};
    int last = check_int(check, 0, TEXT_RANKS - 1);
    counts[last] = check_int(check, 0, 1) ? 5 : 7; /* odd: to step by twos is a step too many */
    counts[(last + 1) % TEXT_RANKS] = 0;
    if (!start_texts(check, run, counts)) {
        return;
    }
    memcpy(right, check_got(check, "texts", WIRE_U64), sizeof right);
    if (check_run(check, "texts", SECONDS)) {
        expect_texts(check, right, stage == 3 ? (uint64_t)counts[last] : 0);
    } else if (strstr(check_text(check), "[cudasim] deadlock:") != NULL) {
        check_fail(check, "a rank that has all its text has left, and the others wait forever for "
                          "its part of the weights: the lines above name them. It takes part until "
                          "all are done");
    } else if (ranks_asked_alone(check)) {
        check_fail(check, "one rank asks whether all are done, and another runs the model: before "
                          "each step all ranks ask, those that have their text and those that do "
                          "not");
    } else {
        ranks_tell_unmet(check);
    }
}
