#include "grader/labs/07_optimizers/choice.h"

#include <math.h>
#include <string.h>

#include "grader/labs/07_optimizers/bytes.h"

enum { OPTIONS = 6, BLOCKS = PLAN_BLOCKS, ASKS = 28, NOTHING_FITS = -1 };
static const uint64_t UNTOUCHED =
    UINT32_MAX; /* an optimizer of the bytes that the probe fills in */

typedef struct Choices {
    ChooseOption option[OPTIONS];
    int way[OPTIONS][BLOCKS]; /* the best of each block */
    ChooseAsk ask[ASKS];
    int asks;
} Choices;

/* The cheapest of the options that cost nearly the same, in the order in which they are drawn; the
   last of these. */
enum { NEARLY_FIRST = 3, NEARLY_LAST = 1 };

/* The place of an option: in no order. */
static int place_of(int i) {
    return (i * 5 + 2) % OPTIONS;
}

/* Cheaper plans take more, and costs differ by half, or by less than floats tell apart: there is
   but one best. Of every other option the last two blocks have nearly all of the cost. The cheapest
   of all costs nothing: 0 seconds do not mean that there is no plan. The others take so long that a
   number of some hundreds, for a plan that is not there yet, is no longer than they. */
enum { DEAR_BLOCKS = 2, BLOCK_BYTES = 64 };
static const double CHEAP_BLOCK = 0x1p-12, LONG_SECONDS = 0x1p12;

static void lengthen(ChooseOption *option) {
    option->option.seconds *= LONG_SECONDS;
    for (int b = 0; b < option->option.blocks; b++) {
        for (int way = 0; way < PLAN_WAYS; way++) {
            option->block[b].seconds[way] *= LONG_SECONDS;
        }
    }
}

static void draw_options(Check *check, Choices *c, size_t states) {
    double seconds = 1, cheap = (BLOCKS - DEAR_BLOCKS) * CHEAP_BLOCK;
    size_t bytes = states * 4;
    for (int i = OPTIONS - 1; i >= 0; i--) {
        int at = place_of(i);
        PlanOption *option = &c->option[at].option;
        *option = (PlanOption){.plan = {.micro_batch = i + 1, .window = 1},
                               .bytes = bytes,
                               .seconds = i == OPTIONS - 1 ? 0
                                          : i % 2 == 0     ? seconds / 16 - cheap
                                                           : seconds,
                               .blocks = i % 2 == 0 ? BLOCKS : 0};
        for (int b = 0; b < option->blocks; b++) {
            int best = c->way[at][b] = (i / 2 + b + 1) % PLAN_WAYS;
            double own = b < BLOCKS - DEAR_BLOCKS ? CHEAP_BLOCK : seconds * 15 / 32;
            for (int way = 0; way < PLAN_WAYS; way++) {
                c->option[at].block[b].kept[way] = BLOCK_BYTES;
                c->option[at].block[b].working[way] = BLOCK_BYTES;
                c->option[at].block[b].seconds[way] = way == best ? own : 40 * own;
            }
        }
        lengthen(&c->option[at]);
        bool nearly = i <= NEARLY_FIRST && i > NEARLY_LAST;
        seconds = nearly ? seconds + 0x1p-25 : floor(seconds * 1.5 * 64) / 64;
        bytes -= states / 8 + (size_t)check_int(check, 1, 64) * 256;
    }
}

static size_t option_bytes(const ChooseOption *option) {
    return option->option.bytes + (size_t)option->option.blocks * BLOCK_BYTES;
}

typedef enum ChoiceMistake {
    CHOICE_RIGHT,
    NO_ROOM,
    LESS_ROOM,
    FIRST_THAT_FITS,
    LAST_OF_EQUALS,
    NONE_AT_ZERO,
    WITHOUT_BLOCKS,
    FIRST_WAYS,
    ADAMW_STATES_OUT,
    CHOICE_WRITTEN,
    ROOM_IN_AN_INT,
    COUNT_IGNORED,
    FLOAT_SECONDS,
    ROOM_WRAPS,
    ENDS_EARLY,
    FULL_REFUSED,
    FEWER_BYTES_OF_EQUALS,
    CHOICE_MISTAKES,
} ChoiceMistake;

static const char *const choice_sentence[CHOICE_MISTAKES] = {
    [NO_ROOM] = "lab 06 counts AdamW's states in each option: with another optimizer there is more "
                "room, by the bytes that it does without",
    [LESS_ROOM] = "the bytes that an optimizer saves are taken from the budget: they come to it",
    [FIRST_THAT_FITS] =
        "the first optimizer that fits is taken: it is the one with the fastest plan",
    [LAST_OF_EQUALS] = "of optimizers whose plans are equally fast the last is taken: it is the "
                       "first",
    [NONE_AT_ZERO] =
        "after a plan of 0 seconds the next one is taken, whatever it costs: 0 does not "
        "say that none has been found yet",
    [WITHOUT_BLOCKS] = "the seconds of a plan are its option's and those of its blocks",
    [FIRST_WAYS] = "a block's seconds are those of its first way: they are those of the way that "
                   "the plan has chosen",
    [ADAMW_STATES_OUT] = "the whole of AdamW's states is added to the budget: the chosen "
                         "optimizer's own states take their part of it",
    [CHOICE_WRITTEN] = "the choice is written although nothing fits: it is left alone then",
    [ROOM_IN_AN_INT] = "the room of a large device does not fit into an int: bytes are counted in "
                       "size_t",
    [COUNT_IGNORED] =
        "optimizers beyond the given ones are tried: `optim_count` says how many there "
        "are",
    [FLOAT_SECONDS] = "seconds are kept in a float, in which plans that differ cost the same: they "
                      "are doubles",
    [ROOM_WRAPS] = "with no limit, a budget of SIZE_MAX, the bytes that are saved wrap the room "
                   "around to next to none",
    [ENDS_EARLY] = "the search ends with the first optimizer that has no plan: the next one may "
                   "keep less",
    [FULL_REFUSED] = "a plan that takes the room to the last byte fits, too",
    [FEWER_BYTES_OF_EQUALS] =
        "where the plans of two optimizers are equally fast, the one that keeps less is taken: the "
        "first one is meant",
};

/* Of an option, its blocks run in their best ways. */
static double option_seconds(const Choices *c, int i, ChoiceMistake mistake) {
    const ChooseOption *option = &c->option[i];
    double seconds = option->option.seconds;
    for (int b = 0; mistake != WITHOUT_BLOCKS && b < option->option.blocks; b++) {
        seconds += option->block[b].seconds[mistake == FIRST_WAYS ? 0 : c->way[i][b]];
    }
    return mistake == FLOAT_SECONDS ? (double)(float)seconds : seconds;
}

/* The option that is best with an optimizer, or NOTHING_FITS. */
static int best_option(const Choices *c, const ChooseAsk *ask, Optim optim, ChoiceMistake mistake) {
    uint64_t adamw = bytes_of_states(&ask->config, OPTIM_ADAMW);
    uint64_t own = bytes_of_states(&ask->config, optim), room = ask->budget;
    bool no_limit = room > UINT64_MAX - adamw && mistake != ROOM_WRAPS;
    room = mistake == NO_ROOM            ? room
           : mistake == LESS_ROOM        ? room + own - adamw
           : mistake == ROOM_IN_AN_INT   ? (uint64_t)(int32_t)(room + adamw - own)
           : no_limit                    ? UINT64_MAX
           : mistake == ADAMW_STATES_OUT ? room + adamw
                                         : room + adamw - own;
    int best = NOTHING_FITS;
    double least = (double)INFINITY;
    for (int i = 0; i < OPTIONS; i++) {
        double seconds = option_seconds(c, i, CHOICE_RIGHT);
        if (option_bytes(&c->option[i]) <= room && seconds < least) {
            best = i;
            least = seconds;
        }
    }
    bool full = best != NOTHING_FITS && option_bytes(&c->option[best]) == room;
    return full && mistake == FULL_REFUSED ? NOTHING_FITS : best;
}

/* Whether optimizer a of those asked about has smaller states than b. */
static bool keeps_less(const ChooseAsk *ask, int a, int b) {
    return bytes_of_states(&ask->config, (Optim)ask->optim[a]) <
           bytes_of_states(&ask->config, (Optim)ask->optim[b]);
}

/* The index in ask->optim, or NOTHING_FITS. */
static int choose_as(const Choices *c, const ChooseAsk *ask, ChoiceMistake mistake, int *option) {
    int chosen = NOTHING_FITS, count = mistake == COUNT_IGNORED ? 3 : ask->optims;
    double least = 0;
    for (int i = 0; i < count; i++) {
        int best = best_option(c, ask, (Optim)ask->optim[i], mistake);
        if (best == NOTHING_FITS && mistake == ENDS_EARLY) {
            break;
        }
        if (best == NOTHING_FITS || (mistake == FIRST_THAT_FITS && chosen != NOTHING_FITS)) {
            continue;
        }
        double seconds = option_seconds(c, best, mistake);
        if (chosen == NOTHING_FITS || seconds < least ||
            (mistake == LAST_OF_EQUALS && seconds == least) ||
            (mistake == FEWER_BYTES_OF_EQUALS && seconds == least && keeps_less(ask, i, chosen)) ||
            (mistake == NONE_AT_ZERO && least == 0)) {
            chosen = i;
            least = seconds;
            *option = best;
        }
    }
    return chosen;
}

static void ask_for(Choices *c, const ModelConfig *config, uint64_t budget, const int *optims,
                    int count) {
    ChooseAsk *ask = &c->ask[c->asks++];
    CHECK(c->asks <= ASKS, "more than %d questions", ASKS);
    *ask = (ChooseAsk){.config = *config, .budget = budget, .optims = count};
    for (int i = 0; i < 3; i++) { /* beyond `count` lies one that would make more room */
        ask->optim[i] = i < count ? optims[i] : OPTIM_ADAFACTOR;
    }
}

/* Budgets around the least of each option, with each optimizer and with one byte less; of two
   models, in half and in float, where there are masters and where there are none. */
static void draw_asks(Check *check, Choices *c, const ModelConfig *config) {
    static const int all[] = {OPTIM_ADAMW, OPTIM_ADAMW_8BIT, OPTIM_ADAFACTOR};
    static const int back[] = {OPTIM_ADAFACTOR, OPTIM_ADAMW_8BIT, OPTIM_ADAMW};
    uint64_t adamw = bytes_of_states(config, OPTIM_ADAMW);
    for (int i = 0; i < OPTIONS; i++) {
        int o = (i + check_int(check, 0, 1)) % OPTIONS;
        ModelConfig asked = *config;
        asked.V += i % 2 * 97;
        asked.precision = i < 3 ? (Precision)check_int(check, F16, BF16) : F32;
        uint64_t states = bytes_of_states(&asked, OPTIM_ADAMW);
        uint64_t own = bytes_of_states(&asked, (Optim)all[i % 3]);
        uint64_t budget = option_bytes(&c->option[o]) - states + own;
        ask_for(c, &asked, budget, i % 2 == 0 ? all : back, 3);
        ask_for(c, &asked, budget - 1, i % 2 == 0 ? all : back, 3);
        ask_for(c, &asked, budget, &all[i % 3], 1);
    }
    /* The smallest states make room for the cheapest of those that cost nearly the same. */
    static const int small[] = {OPTIM_ADAMW_8BIT, OPTIM_ADAFACTOR};
    uint64_t nearly = option_bytes(&c->option[place_of(NEARLY_FIRST)]);
    ask_for(c, config, nearly - adamw + bytes_of_states(config, OPTIM_ADAFACTOR), small, 2);
    ask_for(c, config, adamw * 100, back, 3); /* everything fits */
    ask_for(c, config, adamw * 100, all, 3);
    ask_for(c, config, adamw * 100, all, 0); /* nothing to choose from */
    ask_for(c, config, UINT64_C(1) << 33, all, 3);
    ask_for(c, config, 1, all, 3); /* nothing does */
    ask_for(c, config, UINT64_MAX, back, 3);
}

/* Whether an answer has the best ways of an option's blocks. */
static bool has_ways(const Choices *c, int option, const uint64_t *answer) {
    for (int b = 0; b < c->option[option].option.blocks; b++) {
        if (answer[3 + b] != (uint64_t)c->way[option][b]) {
            return false;
        }
    }
    return true;
}

static void judge_ask(Check *check, const Choices *c, int i, const uint64_t *answer) {
    const ChooseAsk *ask = &c->ask[i];
    int option = NOTHING_FITS, want = choose_as(c, ask, CHOICE_RIGHT, &option);
    int64_t result = (int64_t)answer[0], got_option = (int64_t)answer[2];
    bool fits = want != NOTHING_FITS;
    bool untouched = answer[1] == UNTOUCHED && got_option == -1;
    bool right =
        fits ? result == 0 && answer[1] == (uint64_t)ask->optim[want] && got_option == option
             : result == -1 && untouched;
    if (fits) {
        check_compared(
            check, right,
            "budget of %llu bytes, optimizers to choose from: %d. The result is %lld, %s with "
            "option %lld; want %s with option %d",
            (unsigned long long)ask->budget, ask->optims, (long long)result,
            answer[1] <= OPTIM_ADAMW_8BIT ? optim_name((Optim)answer[1]) : "none",
            (long long)got_option, optim_name((Optim)ask->optim[want]), option);
    } else {
        check_compared(check, right,
                       "budget of %llu bytes, optimizers to choose from: %d. Nothing fits, but the "
                       "result is %lld, and the choice is %s",
                       (unsigned long long)ask->budget, ask->optims, (long long)result,
                       untouched ? "left alone" : "written");
    }
    for (ChoiceMistake mistake = CHOICE_RIGHT + 1; mistake < CHOICE_MISTAKES; mistake++) {
        int as_option = NOTHING_FITS, as = choose_as(c, ask, mistake, &as_option);
        check_suspect(check, choice_sentence[mistake],
                      as == NOTHING_FITS ? result == -1 && (untouched || mistake == CHOICE_WRITTEN)
                                         : result == 0 && answer[1] == (uint64_t)ask->optim[as] &&
                                               got_option == as_option);
    }
    check_compared(check, answer[3 + PLAN_BLOCKS] == 1,
                   "plan_choose() is given too little scratch memory, or other memory than "
                   "optim_choose(): of `scratch` PLAN_SCRATCH bytes or more, at a place that suits "
                   "any type");
    check_compared(check, !fits || !right || has_ways(c, option, answer),
                   "budget of %llu bytes, option %d: the ways of its blocks are not those that "
                   "plan_choose() gives",
                   (unsigned long long)ask->budget, option);
}

void optims_expect(Check *check) {
    static Choices choices;
    memset(&choices, 0, sizeof choices);
    ModelConfig config = {.V = check_int(check, 256, 400),
                          .T = 64,
                          .L = check_int(check, 2, 4),
                          .NH = 1,
                          .C = check_int(check, 64, 128)};
    config.precision = (Precision)check_int(check, F32, BF16);
    draw_options(check, &choices, bytes_of_states(&config, OPTIM_ADAMW));
    draw_asks(check, &choices, &config);
    check_give(check, "options", WIRE_BYTES, choices.option, sizeof choices.option);
    check_give(check, "asks", WIRE_BYTES, choices.ask,
               (size_t)choices.asks * sizeof choices.ask[0]);
    check_want(check, "answers", WIRE_U64, (size_t)choices.asks * ANSWER_NUMBERS);
    if (check_run(check, "choose", SECONDS)) {
        const uint64_t *answers = check_got(check, "answers", WIRE_U64);
        for (int i = 0; i < choices.asks; i++) {
            judge_ask(check, &choices, i, answers + i * ANSWER_NUMBERS);
        }
    }
}
