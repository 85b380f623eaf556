/* Formulas of lab 08, worked out: bytes, times, and whether the bus is hidden. */
#include "grader/labs/08_prefetch/predictions.h"

#include <float.h>
#include <math.h>

#include "grader/labs/08_prefetch/machines.h"
#include "grader/labs/08_prefetch/passes.h"
#include "grader/labs/08_prefetch/term.h"
#include "grader/quiz.h"

/* ---- bytes ----------------------------------------------------------------------------------- */

static void ask(Quiz *quiz, Precision precision, Attention attention, bool wide, int segment) {
    Check *check = quiz->check;
    ModelConfig config = {.V = wide ? check_int(check, 256, 280) : check_int(check, 900, 1200),
                          .T = check_int(check, 20, 40),
                          .L = check_int(check, segment, segment + 4),
                          .NH = check_int(check, 2, 4),
                          .precision = precision,
                          .attention = attention};
    config.C =
        config.NH * (wide ? 112 / config.NH + check_int(check, 0, 4) : check_int(check, 8, 16));
    quiz_add(quiz, (Shape){config,
                           check_int(check, 2, 4),
                           check_int(check, 11, config.T - 2),
                           {.segment = segment}});
}

/* About GPT-2, in batches that have more bytes than an int can say, and more digits than a float: a
   width and a length that are odd. With flash attention the head takes more than a block. */
static void ask_large(Quiz *quiz, Attention attention, int segment, int B) {
    ModelConfig config = {
        .V = 50257, .T = 1024, .L = 48, .NH = 25, .C = 1575, .attention = attention};
    quiz_add(quiz, (Shape){config, B, 1023, {.segment = segment}});
}

/* 48 slots, as a segment has 48 blocks: their numbers fit neither into an int nor, to the last
   digit, into a float. */
static void ask_many_slots(Quiz *quiz) {
    ModelConfig config = {.V = 256, .T = 1024, .L = 48, .NH = 1, .C = 1600};
    quiz_add(quiz, (Shape){config, 65535, 1023, {.segment = 48}});
}

/* By how much known mistakes are off: of offload_moved(). */
static const char *moved_mistake(const Shape *s, uint64_t got, uint64_t right) {
    const ModelConfig *c = &s->config;
    uint64_t twice = 2 * passes_input(c, s->B, s->T),
             whole = (uint64_t)(c->L / s->checkpoint.segment);
    /* Of two segments, one of them short: without it, half of the bytes remain as well. */
    if (2 * got == right && got != twice * whole) {
        return "out and back: twice";
    }
    if (got - right == twice && c->L % s->checkpoint.segment == 0) {
        return "one input too many: where segments divide the blocks none of them is short";
    }
    if (got == twice * (uint64_t)c->L) {
        return "the input of every segment, and not of every block";
    }
    if (got * precision_bytes(c->precision) == right * 4) {
        return "out and back, each in the model's precision";
    }
    return "the input of every segment, of the last one too, out and back; a short last "
           "segment is one as well";
}

/* Mistakes in a formula for the peak of an offloaded step. */
typedef enum PeakMistake {
    PEAK_RIGHT,
    PEAK_NO_PADDING,
    PEAK_THREE_FLOATS,
    PEAK_FLOATS_IN_HALF,
    PEAK_HEAD_ADDED,
    PEAK_SHORT_SEGMENT,
    PEAK_ONE_BLOCK,
    PEAK_FOUR_TENSORS,
    PEAK_CONFIG_T,
    PEAK_MISTAKES,
} PeakMistake;

static const char four_floats[] =
    "the head has four floats for each token, in half too: mean, rstd, the loss and its lse";

static const char *const peak_sentence[PEAK_MISTAKES] = {
    [PEAK_NO_PADDING] =
        "a row of logits takes V numbers rounded up to a multiple of 64: logits_stride(V)",
    [PEAK_THREE_FLOATS] = four_floats,
    [PEAK_FLOATS_IN_HALF] = four_floats,
    [PEAK_HEAD_ADDED] =
        "the head's backward and a segment's are never at the same time: the larger counts",
    [PEAK_SHORT_SEGMENT] =
        "the segment is taken for the last, short one: the full ones before it take more",
    [PEAK_ONE_BLOCK] = "a segment runs again as a whole, and all its blocks are kept until their "
                       "backward: not one of them alone",
    [PEAK_FOUR_TENSORS] = "a block's backward takes five tensors of an input's size beside what "
                          "the block has kept",
    [PEAK_CONFIG_T] = "the sequences have T tokens (the argument), not config->T",
};

static size_t peak_head(const Shape *s, PeakMistake mistake) {
    size_t number = precision_bytes(s->config.precision), N = (size_t)s->B * (size_t)s->T;
    size_t row = (size_t)(mistake == PEAK_NO_PADDING ? s->config.V : logits_stride(s->config.V));
    size_t floats = mistake == PEAK_THREE_FLOATS ? 3 : 4;
    size_t each = mistake == PEAK_FLOATS_IN_HALF ? number : sizeof(float);
    return 2 * passes_input(&s->config, s->B, s->T) + N * (row * number + floats * each);
}

static size_t peak_as(const Shape *shape, PeakMistake mistake) {
    Shape s = *shape;
    s.T = mistake == PEAK_CONFIG_T ? s.config.T : s.T;
    size_t input = passes_input(&s.config, s.B, s.T), head = peak_head(&s, mistake);
    size_t kept = peak_of_block(&s.config, s.B, s.T), S = (size_t)s.checkpoint.segment;
    size_t left = (size_t)s.config.L % S, tensors = mistake == PEAK_FOUR_TENSORS ? 4 : 5;
    size_t blocks = mistake == PEAK_SHORT_SEGMENT && left > 0 ? left * kept
                    : mistake == PEAK_ONE_BLOCK               ? kept + (S - 1) * input
                                                              : S * kept;
    blocks += tensors * input;
    size_t larger = head > blocks ? head : blocks;
    return 3 * input + (mistake == PEAK_HEAD_ADDED ? head + blocks : larger);
}

/* The mistake that gives all answers about the peak; NULL: none does. */
static const char *peak_mistake(const Quiz *quiz) {
    for (PeakMistake mistake = PEAK_RIGHT + 1; mistake < PEAK_MISTAKES; mistake++) {
        int i = 0;
        while (i < quiz->count && quiz_answer(quiz, i)[1] == peak_as(&quiz->shape[i], mistake)) {
            i++;
        }
        if (i == quiz->count) {
            return peak_sentence[mistake];
        }
    }
    return NULL;
}

/* The same of all three. */
static const char *bytes_mistake(const Shape *s, int which, uint64_t got, uint64_t right) {
    uint64_t input = passes_input(&s->config, s->B, s->T), off = got - right;
    if ((uint32_t)got == (uint32_t)right) {
        return "an int holds no more than 2^31 - 1: sizes are computed in size_t";
    }
    if (fabs((double)got - (double)right) <= (double)right * (double)FLT_EPSILON) {
        return "so near that a float cannot tell them apart: sizes are computed in size_t";
    }
    if (which == 2) {
        return moved_mistake(s, got, right);
    }
    if (which == 0) {
        return 2 * got == right ? "a slot has tokens and targets"
                                : "two numbers of 4 bytes for each token of each slot";
    }
    return off == input || off == -input
               ? "one input too many or too few: dx and two places, and in a segment the output of "
                 "each block"
               : "dx and two places; then the head, or a segment's blocks and what one "
                 "block's backward takes, whichever is more";
}

static uint64_t bytes_right(const Shape *s, int which) {
    int S = s->checkpoint.segment, L = s->config.L;
    bool huge = s->config.C > 1000;
    uint64_t input = passes_input(&s->config, s->B, s->T);
    size_t peak = passes_peak_worked_out(&s->config, s->B, s->T, S);
    CHECK(peak == peak_as(s, PEAK_RIGHT) &&
              (huge || peak == passes_peak(&s->config, s->B, s->T, S)),
          "what is counted is not what is worked out");
    return which == 0   ? (uint64_t)S * 8 * (uint64_t)s->B * (uint64_t)s->T
           : which == 1 ? peak
                        : 2 * (uint64_t)((L + S - 1) / S) * input;
}

void predictions_expect_bytes(Check *check) {
    static const char *const what[] = {"prefetch_bytes()", "offload_bytes()", "offload_moved()"};
    Quiz quiz = {.check = check, .numbers = 3};
    for (int i = 0; i < 9; i++) {
        ask(&quiz, (Precision)(i % 3), i == 4 ? ATTENTION_FLASH : ATTENTION_PLAIN, i % 2,
            1 + i / 3);
    }
    ask_large(&quiz, ATTENTION_PLAIN, 1, 7);
    ask_large(&quiz, ATTENTION_PLAIN, 5, check_int(check, 8, 9));
    ask_large(&quiz, ATTENTION_FLASH, 1, check_int(check, 11, 18));
    ask_many_slots(&quiz);
    if (!quiz_run(&quiz, "formulas/bytes", SECONDS)) {
        return;
    }
    for (int i = 0; i < quiz.count * 3; i++) {
        const Shape *shape = &quiz.shape[i / 3];
        uint64_t got = quiz_answer(&quiz, i / 3)[i % 3], right = bytes_right(shape, i % 3);
        if (got != right) {
            const char *known = i % 3 == 1 ? peak_mistake(&quiz) : NULL;
            check_fail(check, "%s, %s, %s %d: %llu, %llu is right: %s", what[i % 3],
                       quiz.name[i / 3], i % 3 == 0 ? "slots" : "segment",
                       shape->checkpoint.segment, (unsigned long long)got,
                       (unsigned long long)right,
                       known != NULL ? known : bytes_mistake(shape, i % 3, got, right));
            return;
        }
    }
    check_good(check);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* The record of these copies and kernels, as a right prefetch leaves it, on a machine without
   launch costs. */
void predictions_expect_time(Check *check) {
    enum { RUNS = 12 };
    int32_t count[2 * RUNS];
    float seconds[2 * RUNS];
    for (int i = 0; i < RUNS; i++) {
        count[2 * i] = i == 0 ? 1 : check_int(check, 2, 14);
        count[2 * i + 1] = i % 3 == 0 ? 1 : check_int(check, 2, 4);
        seconds[2 * i] = (float)check_int(check, 1, 999) * 1e-3f;
        seconds[2 * i + 1] = (float)check_int(check, 1, 999) * 1e-3f;
    }
    for (int i = 1; i <= 2; i++) { /* fewer batches than slots, and longer copies than work */
        count[2 * i] = i;
        count[2 * i + 1] = 4;
        seconds[2 * i] = seconds[2 * i + 1] + 0.5f;
    }
    check_give(check, "counts", WIRE_I32, count, 2 * RUNS);
    check_give(check, "seconds", WIRE_F32, seconds, 2 * RUNS);
    check_want(check, "times", WIRE_F32, RUNS);
    if (!check_run(check, "formulas/time", SECONDS)) {
        return;
    }
    const float *got = check_got(check, "times", WIRE_F32);
    for (int i = 0; i < RUNS; i++) {
        double right = machines_pipeline(count[2 * i], count[2 * i + 1], (double)seconds[2 * i],
                                         (double)seconds[2 * i + 1]);
        if (!(fabs((double)got[i] - right) <= 1e-5 * right)) {
            check_fail(check,
                       "batches %d, slots %d, %.3f s to copy, %.3f s to work: %.4f s, the "
                       "makespan is %.4f: %s",
                       count[2 * i], count[2 * i + 1], (double)seconds[2 * i],
                       (double)seconds[2 * i + 1], (double)got[i], right,
                       count[2 * i + 1] == 1
                           ? "with one slot nothing runs beside anything"
                           : "the first copy and the last work have nothing beside them; in "
                             "between the larger stage sets the pace");
            return;
        }
    }
    check_good(check);
}

/* ---- hidden or not --------------------------------------------------------------------------- */

enum { HIDES = 18 };

/* How many times longer than the copy the products take: forward's, multiplied by `times`, with T
   tokens in a sequence. */
static double width_margin(const Shape *shape, int T, int times, double bus, double rate) {
    const ModelConfig *c = &shape->config;
    double C = c->C, bytes = C * (double)precision_bytes(c->precision);
    double work = shape->checkpoint.segment * times * (24 * C * C + 4 * C * T);
    return work / rate * bus / bytes;
}

/* In these questions the answer is known, and the width alone decides: each other term's answer to
   one of them is wrong. */
enum { NOT_HIDDEN = 4, HIDDEN = 7 };

/* A model so wide that its products do not fit into an int; and a step of so short sequences that
   no term hides the bus, in a model of sequences that do. */
enum { WIDEST = 12, WIDEST_C = 12288, SHORTEST = 16, LONG_MODEL = 1 << 20 };

/* A step whose copy takes exactly as long as its products: powers of 2, so that no order of the
   operations rounds anything; where a term has a factor, the width and the rate have it as well. In
   the other one the rate is higher by so little that floats just tell it: it is not hidden. */
enum { EQUAL = 9, JUST_NOT = 10, EQUAL_C = 64 };
static const float A_HAIR = 1 + 0x1p-20f;

static void set_equal(Shape *shape, float *bus, float *rate) {
    int C = EQUAL_C * TERM_HIDES_IS, sum = 1;
    while (sum <= 6 * C) {
        sum *= 2;
    }
    shape->config.C = C;
    shape->config.NH = 2;
    shape->config.L = 4;
    shape->checkpoint.segment = 2;
    shape->T = shape->config.T = sum - 6 * C; /* 24 C C + 4 T C is 4 C sum */
    *bus = 0x1p34f;
    *rate = 2.0f * 4 * (float)sum * TERM_HIDES_IS * *bus /
            (float)precision_bytes(shape->config.precision);
}

/* Gives a shape a width at which the answer is drawn, and clear. */
static void set_width(Check *check, int i, Shape *shape, double bus, double rate) {
    const int times = TERM_HIDES_IS;
    bool drawn = check_int(check, 0, 1) != 0, hidden = i == HIDDEN || (i != NOT_HIDDEN && drawn);
    int T = check_int(check, 32, 2048) / times;
    shape->T = shape->config.T = i == HIDDEN || i == NOT_HIDDEN ? 32 : T;
    shape->config.C = shape->config.NH;
    while (width_margin(shape, shape->T, times, bus, rate) < (hidden ? 1.05 : 0.75)) {
        shape->config.C += shape->config.NH;
    }
    if (!hidden && width_margin(shape, shape->T, times, bus, rate) > 0.97) {
        shape->config.C = shape->config.NH;
    }
    if (i == WIDEST) {
        shape->config.C = WIDEST_C;
    } else if (i == SHORTEST) {
        shape->T = 1;
        shape->config.T = LONG_MODEL;
        shape->config.C = shape->config.NH;
    }
}

/* The T that counts, what is said where copy and products take the same time, and numbers that are
   taken for bytes. */
typedef enum HidesMistake {
    HIDES_RIGHT,
    HIDES_OF_MODEL,
    HIDES_STRICT,
    HIDES_NUMBERS,
    HIDES_BOTH_WAYS,
    HIDES_TURNED,
    HIDES_ALL_BLOCKS,
} HidesMistake;

/* Whether all answers are those of forward's products, multiplied by `times`. */
static bool hides_as(const Quiz *quiz, const float *rates, int times, HidesMistake mistake,
                     int *wrong) {
    for (int i = 0; i < HIDES; i++) {
        const Shape *shape = &quiz->shape[i];
        int T = mistake == HIDES_OF_MODEL ? shape->config.T : shape->T;
        double bus = (double)rates[2 * i], rate = (double)rates[2 * i + 1];
        double margin = width_margin(shape, T, times, bus, rate);
        margin *= mistake == HIDES_NUMBERS     ? (double)precision_bytes(shape->config.precision)
                  : mistake == HIDES_BOTH_WAYS ? 0.5
                  : mistake == HIDES_ALL_BLOCKS
                      ? (double)shape->config.L / shape->checkpoint.segment
                      : 1;
        bool hidden = mistake == HIDES_STRICT   ? margin > 1
                      : mistake == HIDES_TURNED ? margin <= 1
                                                : margin >= 1;
        if ((*quiz_answer(quiz, i) != 0) != hidden) {
            *wrong = i;
            return false;
        }
    }
    return true;
}

void predictions_expect_hides(Check *check) {
    Quiz quiz = {.check = check, .numbers = 1};
    const Term term = TERM_HIDES;
    const int times[] = TERM_HIDES_EACH;
    float rates[2 * HIDES];
    bool fits[TERM_MOST];
    int wrong = 0, other;
    for (int i = 0; i < HIDES; i++) {
        const Machine *machine = machines_declared[i % MACHINES];
        Precision precision = (Precision)(i / 3 % 3);
        ask(&quiz, precision, ATTENTION_PLAIN, i % 2, check_int(check, 1, 3));
        Shape *shape = &quiz.shape[i];
        double rate = precision == F32   ? machine->f32
                      : precision == F16 ? machine->f16
                                         : machine->bf16;
        rates[2 * i] = (float)machine->to_device;
        rates[2 * i + 1] = (float)rate;
        set_width(check, i, shape, (double)rates[2 * i], (double)rates[2 * i + 1]);
        if (i == EQUAL || i == JUST_NOT) {
            set_equal(shape, &rates[2 * i], &rates[2 * i + 1]);
            shape->B = i;
            rates[2 * i + 1] *= i == JUST_NOT ? A_HAIR : 1;
        }
    }
    check_give(check, "rates", WIRE_F32, rates, (size_t)2 * HIDES);
    if (!quiz_run(&quiz, "formulas/hides", SECONDS)) {
        return;
    }
    bool good = hides_as(&quiz, rates, TERM_HIDES_IS, HIDES_RIGHT, &wrong);
    bool hidden = *quiz_answer(&quiz, wrong) == 0;
    check_compared(check, good,
                   "%s, %d blocks a segment, bus %.3g B/s, %.3g FLOP/s: %s: a token has C numbers "
                   "on the bus, and S (24 C C + 4 T C) operations in a segment's forward",
                   quiz.name[wrong], quiz.shape[wrong].checkpoint.segment, (double)rates[2 * wrong],
                   (double)rates[2 * wrong + 1], hidden ? "the bus is hidden" : "it is not");
    check_suspect(check, "T is that of the model's config: the step's may be shorter",
                  hides_as(&quiz, rates, TERM_HIDES_IS, HIDES_OF_MODEL, &other));
    check_suspect(check,
                  "C numbers are counted as C bytes: each has those of the model's precision",
                  hides_as(&quiz, rates, TERM_HIDES_IS, HIDES_NUMBERS, &other));
    check_suspect(check,
                  "the copy is counted out and back: beside a segment's forward it goes one "
                  "way, and each way has a bus of its own",
                  hides_as(&quiz, rates, TERM_HIDES_IS, HIDES_BOTH_WAYS, &other));
    check_suspect(check,
                  "yes and no are exchanged: true says that the copy takes at most as long "
                  "as the products",
                  hides_as(&quiz, rates, TERM_HIDES_IS, HIDES_TURNED, &other));
    check_suspect(check, "the products are those of all blocks: a segment's alone hide its input",
                  hides_as(&quiz, rates, TERM_HIDES_IS, HIDES_ALL_BLOCKS, &other));
    check_suspect(check, "a copy that takes just as long as the products is hidden, too",
                  hides_as(&quiz, rates, TERM_HIDES_IS, HIDES_STRICT, &other));
    for (int k = 0; k < term.count; k++) {
        fits[k] = hides_as(&quiz, rates, times[k], HIDES_RIGHT, &other);
    }
    check_suspect_term(check, &term, fits);
}
