/* Peaks of drawn plans: asked for, and compared. The contract is in quote.h. */
#include "grader/labs/06_fit/quote.h"

#include <string.h>

#include "grader/draws.h"
#include "grader/labs/06_fit/choice.h"

enum { PEAK_MISTAKES = 7, PEAK_CUT = 4, PEAK_OF_NOTHING, PEAK_OF_KEEPING };
static const char *const peak_mistakes[PEAK_MISTAKES] = {
    "blocks after the one that runs backward have given back what they kept",
    "what a block has kept is among its working[] already: it counts once",
    "the head comes on top of what all blocks have kept",
    "while a block runs backward it takes working[], not only what all have kept",
    [PEAK_CUT] = "the sum does not fit into 32 bits: size_t",
    [PEAK_OF_NOTHING] = "an option without blocks has a peak too: its bytes and the head",
    [PEAK_OF_KEEPING] = "working[] has a number for each way: that of way[i] counts",
};

static size_t peak_mistaken(const PlanOption *option, const unsigned char *way, int mistake) {
    size_t kept = option->bytes, most = 0, last = 0, working = 0;
    for (int i = 0; i < option->blocks; i++) {
        const PlanBlock *block = &option->block[i];
        size_t twice = mistake == 1 ? block->kept[way[i]] : 0;
        size_t work = block->working[mistake == PEAK_OF_KEEPING ? WAY_KEEP : way[i]];
        last = kept + work + twice;
        most = last > most && mistake != 3 ? last : most;
        working = work > working ? work : working;
        kept += block->kept[way[i]];
    }
    size_t head = kept + (mistake == 2 ? 0 : option->head);
    if (mistake == 0) {
        most = kept + working;
    }
    most = head > most ? head : most;
    if (mistake == PEAK_OF_NOTHING && option->blocks == 0) {
        return 0;
    }
    return mistake == PEAK_CUT ? (uint32_t)most : most;
}

/* Options, a way for each of their blocks, and the peaks: right ones, and those of each mistake. */
typedef struct Peaks {
    Stack stack;
    unsigned char way[STACK_OPTIONS][PLAN_BLOCKS];
    uint64_t want[STACK_OPTIONS], mistaken[PEAK_MISTAKES][STACK_OPTIONS];
} Peaks;

/* Each way works in another number of bytes. */
static void tell_ways_apart(Stack *stack) {
    for (int i = 0; i < stack->count; i++) {
        for (int k = 0; k < stack->option[i].blocks; k++) {
            size_t *working = stack->block[i][k].working;
            working[WAY_ATTENTION] += working[WAY_KEEP] / 8;
            working[WAY_AGAIN] += working[WAY_KEEP] / 4;
        }
    }
}

static Peaks peaks_draw(Check *check) {
    Stack *drawn[2] = {stack_draw(check, STACK_SMALL), stack_draw(check, STACK_WIDE)};
    tell_ways_apart(drawn[0]);
    tell_ways_apart(drawn[1]);
    Peaks peaks = {.stack = {.check = check, .count = STACK_OPTIONS}};
    for (int i = 0; i < STACK_OPTIONS; i++) {
        PlanOption *option = &peaks.stack.option[i];
        PlanChoice choice = {.option = i};
        *option = drawn[i % 2]->option[i % drawn[i % 2]->count];
        option->head *= (size_t)(i % 3) * (i % 3); /* none, some, or more than any block takes */
        option->blocks = i == STACK_OPTIONS - 1 ? 0 : option->blocks;
        for (int k = 0; k < option->blocks; k++) {
            choice.way[k] = (unsigned char)check_int(check, 0, PLAN_WAYS - 1);
        }
        memcpy(peaks.way[i], choice.way, PLAN_BLOCKS);
        peaks.want[i] = stack_price(&peaks.stack, &choice).peak;
        for (int m = 0; m < PEAK_MISTAKES; m++) {
            peaks.mistaken[m][i] = peak_mistaken(option, choice.way, m);
        }
    }
    return peaks;
}

/* Whether no mistake has the peaks of another one, or right ones. */
static bool peaks_differ(const Peaks *peaks) {
    for (int m = 0; m < PEAK_MISTAKES; m++) {
        bool same = memcmp(peaks->mistaken[m], peaks->want, sizeof peaks->want) == 0;
        for (int other = 0; other < m; other++) {
            same |= memcmp(peaks->mistaken[m], peaks->mistaken[other], sizeof peaks->want) == 0;
        }
        if (same) {
            return false;
        }
    }
    return true;
}

void peaks_ask(Check *check) {
    enum { TRIES = 500 };
    Peaks peaks;
    int tries = 0;
    do {
        CHECK(tries++ < TRIES, "no options in %d that tell all mistakes apart", TRIES);
        peaks = peaks_draw(check);
    } while (!peaks_differ(&peaks));
    ExactSuspect suspects[PEAK_MISTAKES];
    for (int m = 0; m < PEAK_MISTAKES; m++) {
        suspects[m] = (ExactSuspect){peak_mistakes[m], peaks.mistaken[m]};
    }
    stack_give(&peaks.stack);
    check_give(check, "ways", WIRE_BYTES, peaks.way, sizeof peaks.way);
    check_want(check, "peaks", WIRE_U64, STACK_OPTIONS);
    if (check_run(check, "peak", QUICKLY)) {
        check_equal(check, "peaks", peaks.want, STACK_OPTIONS, suspects, PEAK_MISTAKES);
    }
}
