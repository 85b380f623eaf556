/* Messages, bytes and time of windows through stages. The contract is in stages.h. */
#include <math.h>
#include <string.h>

#include "grader/labs/13_pipeline/stages.h"

/* ---- messages and memory --------------------------------------------------------------------- */

bool stages_expect_messages(const StagesRun *run) {
    RankCalls calls;
    if (!ranks_take_calls(run->check, &calls)) {
        return false;
    }
    for (int s = 0; s < run->stages; s++) {
        int neighbours = (s > 0) + (s < run->stages - 1), sends = 0;
        double bytes = 0, right = 0;
        for (int i = 0; i < calls.count; i++) {
            bool sent = calls.call[i].rank == s && strcmp(calls.call[i].name, "ncclSend") == 0;
            sends += sent;
            bytes += sent ? calls.call[i].bytes : 0;
        }
        for (int i = 0; i < run->micros; i++) {
            const Batch *batch = &run->given.batch[i];
            right += neighbours * (double)plan_message(&run->given.config, batch->B, batch->T);
        }
        int wanted = neighbours * run->micros;
        if (sends != wanted || !(fabs(bytes - right) < 0.5)) {
            check_fail(run->check,
                       "stage %d of %d sends %d messages, %.0f bytes: %d neighbours get %d each, "
                       "(B, T, C) of each micro-batch, together %.0f bytes",
                       s, run->stages, sends, bytes, neighbours, run->micros, right);
            return false;
        }
    }
    check_good(run->check);
    return true;
}

bool stages_expect_peak(const StagesRun *run) {
    for (int s = 0; s < run->stages; s++) {
        PipePlan plan = {(PipeOrder)run->option[PIPES_ORDER], run->stages, s, run->micros};
        const Batch *batch = &run->given.batch[0];
        MemoryUse right = plan_bytes(&run->given.config, &plan, batch->B, batch->T);
        MemoryUse got = ranks_bytes(run->check, s);
        size_t activations = got.bytes[MEMORY_ACTIVATIONS];
        if (activations > right.bytes[MEMORY_ACTIVATIONS] ||
            got.bytes[MEMORY_DATA] > right.bytes[MEMORY_DATA]) {
            check_fail(run->check,
                       "stage %d of %d: %zu bytes of activations and %zu of data at the peak; %d "
                       "micro-batches in flight take %zu and %zu",
                       s, run->stages, activations, got.bytes[MEMORY_DATA], plan_in_flight(&plan),
                       right.bytes[MEMORY_ACTIVATIONS], right.bytes[MEMORY_DATA]);
            return false;
        }
    }
    check_good(run->check);
    return true;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* On a real machine stages are unequal: the ends have embedding and head, and blocks do not divide.
   Here they are equal: each block has one attention a micro-batch, forward and backward, and
   nothing else costs anything. Of a stage's forward each has an equal share, of its backward, too,
   and so the makespan is a whole number of turns. */
enum { FORTH = 1, BACK = 2 };

static const Machine equal_stages = {.name = "a GPU on which all stages take equally long",
                                     .memory = 1e18,
                                     .f32 = 1,
                                     .tf32 = 1,
                                     .f16 = 1,
                                     .bf16 = 1,
                                     .to_device = 1e18,
                                     .from_device = 1e18,
                                     .link = 1e18,
                                     .network = 1e18,
                                     .kernels = 1,
                                     .copy_engines = 2,
                                     .node = MOST_RANKS};

/* The turns of an entry; only the first launch of an op has arithmetic. */
static double turns_of(const StagesRun *run, const CudasimEntry *e) {
    int blocks[2];
    if (e->op == NULL || !(e->flops > 0) || e->rank >= run->stages) {
        return 0;
    }
    plan_blocks(run->given.config.L, run->stages, e->rank, blocks);
    double turns = strcmp(e->op, "attention_forward") == 0    ? FORTH
                   : strcmp(e->op, "attention_backward") == 0 ? BACK
                                                              : 0;
    return turns / (blocks[1] - blocks[0]);
}

static CudasimRecord in_turns(const StagesRun *run, const CudasimRecord *record) {
    CudasimEntry *entries = (CudasimEntry *)check_doubles(
        run->check, (record->count + 1) * sizeof *entries / sizeof(double));
    for (size_t i = 0; i < record->count; i++) {
        entries[i] = record->entry[i];
        entries[i].flops = turns_of(run, &record->entry[i]);
        entries[i].bytes = 0;
        entries[i].read = entries[i].written = 0;
    }
    return (CudasimRecord){entries, record->count};
}

bool stages_expect_time(const StagesRun *run) {
    int m = run->micros, p = run->stages, turn = FORTH + BACK;
    double right = (m + p - 1) * turn, alone = m * p * turn;
    CudasimRecord record;
    Makespan result;
    if (!record_take(run->check, &record)) {
        return false;
    }
    record = in_turns(run, &record);
    if (!makespan(&record, &equal_stages, NULL, &result)) {
        check_fail(run->check, "the record of the window cannot run to its end");
        return false;
    }
    bool good = fabs(result.seconds - right) <= 1e-9 * right;
    check_compared(run->check, good,
                   "%d micro-batches through %d stages take %.4g turns on a declared machine, "
                   "where the forward of a stage is %d turn and its backward %d, and nothing else "
                   "takes time: (m + p - 1)(%d + %d) are %.4g",
                   m, p, result.seconds, FORTH, BACK, FORTH, BACK, right);
    check_suspect(run->check,
                  "stages run one after the other: while one works on a micro-batch, the others "
                  "wait",
                  fabs(result.seconds - alone) <= 1e-9 * alone);
    return good;
}
