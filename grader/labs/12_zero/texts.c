#include "grader/labs/12_zero/texts.h"

#include <string.h>

#include "grader/labs/12_zero/run.h"

enum { TEXT_RANKS = 3 };

static void give_texts(Check *check, ZeroRun *run, const int32_t counts[TEXT_RANKS]) {
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
}

/* All texts are drawn when zero_generate() is called once more. */
static bool expect_no_more(Check *check) {
    const uint64_t *got = check_got(check, "texts", WIRE_U64);
    for (int r = 0; r < TEXT_RANKS; r++, got += TEXT_NUMBERS) {
        if (got[TEXT_MORE] != 0) {
            check_fail(check,
                       "called again, when all ranks have their text, rank %d makes %llu steps "
                       "more: ask before each step, the first one too",
                       r, (unsigned long long)got[TEXT_MORE]);
            return false;
        }
    }
    check_good(check);
    return true;
}

/* Every row of the table against the kit's, and how often the model has run. */
static bool expect_texts(Check *check, const uint64_t *right, uint64_t most) {
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
        return false;
    }
    return expect_no_more(check);
}

/* Where the run has not finished: the calls that did not meet say why. */
static void tell_why_not(Check *check) {
    const char *forever = strstr(check_text(check), "[cudasim] deadlock:");
    if (forever != NULL && strstr(forever, " has ended") != NULL) {
        check_fail(check, "a rank that has all its text has left, and the others wait forever for "
                          "its part of the weights: the lines above name them. It takes part until "
                          "all are done");
    } else if (ranks_asked_alone(check)) {
        check_fail(check, "one rank asks whether all are done, and another runs the model: before "
                          "each step all ranks ask, and then all run it, or none: those that have "
                          "their text, too");
    } else {
        ranks_tell_unmet(check);
    }
}

/* On the CPU, or on the simulated GPU, whose memory the host cannot touch. */
static bool run_texts(Check *check, ZeroRun *run, bool gpu, uint64_t most) {
    uint64_t right[TEXT_RANKS * TEXT_NUMBERS];
    run->option[RANKS_GPU] = gpu;
    check_give_again(check, "ranks", WIRE_I32, run->option, RANK_OPTIONS);
    if (!check_run_kit(check, "texts", SECONDS)) {
        return false;
    }
    memcpy(right, check_got(check, "texts", WIRE_U64), sizeof right);
    if (!check_run(check, "texts", SECONDS)) {
        tell_why_not(check);
        return false;
    }
    return expect_texts(check, right, most);
}

void texts_judge(Check *check, int stage) {
    ZeroRun *run = zero_run(check, stage, TEXT_RANKS, 1, F32);
    int32_t counts[TEXT_RANKS] = {check_int(check, 0, 3), check_int(check, 0, 3),
                                  check_int(check, 0, 3)};
    int last = check_int(check, 0, TEXT_RANKS - 1);
    counts[last] = check_int(check, 0, 1) ? 5 : 7; /* odd: to step by twos is a step too many */
    counts[(last + 1) % TEXT_RANKS] = 0;
    give_texts(check, run, counts);
    if (run_texts(check, run, false, stage == 3 ? (uint64_t)counts[last] : 0) && stage == 3) {
        run_texts(check, run, true, (uint64_t)counts[last]);
    }
}
