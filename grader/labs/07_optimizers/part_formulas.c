/* Codebooks, bytes and the choice of an optimizer: no device, and no lab 06. */
#include "grader/labs/07_optimizers/part_formulas.h"

#include <stdlib.h>
#include <string.h>

#include "grader/labs/07_optimizers/protocol.h"
#include "labs/06_fit/contract.h"
#include "labs/07_optimizers/contract.h"

/* Both are asked before: nothing of them may be left in the one that counts. */
static void ask_before(void) {
    float values[ADAM8_CODES];
    codebook_signed(values);
    codebook_unsigned(values);
}

void formula_codebook_signed(const Wire *in, Wire *out) {
    (void)in;
    ask_before();
    codebook_signed(wire_get(out, "values", WIRE_F32, NULL));
}

void formula_codebook_unsigned(const Wire *in, Wire *out) {
    (void)in;
    ask_before();
    codebook_unsigned(wire_get(out, "values", WIRE_F32, NULL));
}

void formula_bytes(const Wire *in, Wire *out) {
    size_t count;
    const int32_t *n = wire_get(in, "models", WIRE_I32, &count);
    uint64_t *bytes = wire_get(out, "bytes", WIRE_U64, NULL);
    for (size_t i = 0; i < count / BYTES_NUMBERS; i++, n += BYTES_NUMBERS) {
        ModelConfig config = {.V = n[0], .T = n[1], .L = n[2], .NH = n[3], .C = n[4]};
        config.precision = (Precision)n[5];
        bytes[i] = optim_bytes(&config, (Optim)n[6]);
    }
}

/* The probe's own plan_choose(): exact where all ways of a block take the same bytes, as in the
   plans that are asked about, and it sees what it is given. Defined here, so that no lab 06 is
   linked. */
static struct ChooseSeen {
    const char *scratch; /* what optim_choose() was given */
    size_t bytes;
    bool within; /* and has passed on: enough, in it, and aligned */
    size_t calls;
} seen;

static size_t most_of(size_t a, size_t b) {
    return a < b ? b : a;
}

/* As backward goes: from the head down. */
size_t plan_peak(const PlanOption *o, const unsigned char *way) {
    size_t all = o->bytes, most;
    for (int b = o->blocks; b-- > 0;) {
        all += o->block[b].kept[way[b]];
    }
    most = all + o->head;
    for (int b = o->blocks; b-- > 0;) {
        all -= o->block[b].kept[way[b]];
        most = most_of(most, all + o->block[b].working[way[b]]);
    }
    return most;
}

/* The fastest way of each block. @return the seconds of an update */
static double fastest_ways(const PlanOption *option, unsigned char *way) {
    double all = option->seconds;
    for (int b = 0; b < option->blocks; b++) {
        const double *seconds = option->block[b].seconds;
        for (int w = 1; w < PLAN_WAYS; w++) {
            way[b] = seconds[w] < seconds[way[b]] ? (unsigned char)w : way[b];
        }
        all += seconds[way[b]];
    }
    return all;
}

int plan_choose(const PlanOption *options, int count, size_t budget, void *scratch, size_t bytes,
                PlanChoice *choice) {
    const char *at = scratch;
    bool found = false;
    double least = 0;
    size_t least_peak = 0;
    seen.calls++;
    seen.within = seen.within && at >= seen.scratch && bytes >= PLAN_SCRATCH &&
                  at + bytes <= seen.scratch + seen.bytes && (uintptr_t)at % 16 == 0;
    for (int i = 0; i < count; i++) {
        PlanChoice one = {.option = i};
        double seconds = fastest_ways(&options[i], one.way);
        size_t peak = plan_peak(&options[i], one.way);
        if (peak <= budget &&
            (!found || seconds < least || (seconds == least && peak < least_peak))) {
            *choice = one;
            found = true;
            least = seconds;
            least_peak = peak;
        }
    }
    memset(scratch, 0x5A, bytes < PLAN_SCRATCH ? 0 : 4096); /* it is the callee's until then */
    return found ? 0 : -1;
}

void formula_choose(const Wire *in, Wire *out) {
    size_t bytes, count;
    ChooseOption *given_options = wire_get(in, "options", WIRE_BYTES, &bytes);
    count = bytes / sizeof *given_options;
    PlanOption *options = calloc(count, sizeof *options);
    PlanBlock *blocks = calloc(count * PLAN_BLOCKS, sizeof *blocks);
    void *scratch = malloc(PLAN_SCRATCH + 4096);
    CHECK(options != NULL && blocks != NULL && scratch != NULL, "no host memory");
    for (size_t i = 0; i < count; i++) {
        options[i] = given_options[i].option;
        memcpy(blocks + i * PLAN_BLOCKS, given_options[i].block, sizeof given_options[i].block);
        options[i].block = blocks + i * PLAN_BLOCKS;
    }
    const ChooseAsk *asks = wire_get(in, "asks", WIRE_BYTES, &bytes);
    uint64_t *answer = wire_get(out, "answers", WIRE_U64, NULL);
    for (size_t i = 0; i < bytes / sizeof *asks; i++, answer += ANSWER_NUMBERS) {
        Optim optims[3] = {(Optim)asks[i].optim[0], (Optim)asks[i].optim[1],
                           (Optim)asks[i].optim[2]};
        OptimChoice choice;
        size_t scratch_bytes = PLAN_SCRATCH + (i % 2) * 4096;
        seen = (struct ChooseSeen){scratch, scratch_bytes, true, 0};
        memset(&choice, 0xFF, sizeof choice);
        answer[0] = (uint64_t)(int64_t)optim_choose(&asks[i].config, optims, asks[i].optims,
                                                    options, (int)count, asks[i].budget, scratch,
                                                    scratch_bytes, &choice);
        answer[1] = (uint64_t)choice.optim;
        answer[2] = (uint64_t)(int64_t)choice.plan.option;
        for (int b = 0; b < PLAN_BLOCKS; b++) {
            answer[3 + b] = choice.plan.way[b];
        }
        answer[3 + PLAN_BLOCKS] = seen.within;
    }
    free(scratch);
    free(blocks);
    free(options);
}
