/* Messages, bytes and time of windows through stages. The contract is in stages.h. */
#include <math.h>
#include <string.h>

#include "grader/labs/13_pipeline/stages.h"

/* ---- messages and memory --------------------------------------------------------------------- */

/* A window is sends and receives: where all stages meet, or two of them, they wait for each other
   once more. */
static bool expect_no_other_call(const StagesRun *run, const RankCalls *calls) {
    for (int i = 0; i < calls->count; i++) {
        const RankCall *call = &calls->call[i];
        if (strcmp(call->name, "ncclSend") != 0 && strcmp(call->name, "ncclRecv") != 0) {
            check_fail(run->check,
                       "stage %d of %d calls %s() in the window: there a stage sends to its "
                       "neighbours and receives from them, and that is all",
                       call->rank, run->stages, call->name);
            return false;
        }
    }
    return true;
}

/* Messages to each neighbour are counted from the first one on: where a stage has sent all forwards
   before its first backward, the numbers begin anew a single time. */
static bool expect_forwards_first(const StagesRun *run, const RankCalls *calls) {
    for (int s = 1; s < run->stages - 1; s++) {
        uint64_t last = 0;
        int anew = 0;
        for (int i = 0; i < calls->count; i++) {
            const RankCall *call = &calls->call[i];
            if (call->rank == s && strcmp(call->name, "ncclSend") == 0) {
                anew += call->number <= last;
                last = call->number;
            }
        }
        if (anew > 1) {
            check_fail(run->check,
                       "stage %d of %d sends a gradient back before its last forward is handed on: "
                       "with GPIPE all forwards come first, then all backwards",
                       s, run->stages);
            return false;
        }
    }
    return true;
}

bool stages_expect_messages(const StagesRun *run) {
    RankCalls calls;
    if (!ranks_take_calls(run->check, &calls) || !expect_no_other_call(run, &calls)) {
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
            check_fail(
                run->check,
                "stage %d of %d sends %d messages, %.0f bytes: each neighbour (%d of them) gets "
                "%d, (B, T, C) of each micro-batch, together %.0f bytes",
                s, run->stages, sends, bytes, neighbours, run->micros, right);
            return false;
        }
    }
    if (!expect_forwards_first(run, &calls)) {
        return false;
    }
    check_good(run->check);
    return true;
}

/* Whether a rank was in tie_sum() when a call was carried out: letters stand in lines of their
   own. */
static bool is_of_tie(const char *events, const RankCall *call) {
    bool inside = false;
    for (const char *p = events; p < events + call->at; p += strcspn(p, "\n"), p += *p == '\n') {
        size_t length = strncmp(p, "cudasim ", 8) == 0 ? 0 : strcspn(p, "\n");
        for (size_t i = 0; i < length; i++) {
            inside = (inside || p[i] == TOLD_TIE_BEGINS + call->rank) &&
                     p[i] != TOLD_TIE_ENDS + call->rank;
        }
    }
    return inside;
}

/* The calls of a stage in tie_sum(), and what they send. */
static int tie_calls(const StagesRun *run, const RankCalls *calls, int stage, double *bytes) {
    int made = 0;
    *bytes = 0;
    for (int i = 0; i < calls->count; i++) {
        const RankCall *call = &calls->call[i];
        bool counts = call->rank == stage && is_of_tie(check_events(run->check), call);
        made += counts;
        *bytes += counts ? call->bytes : 0;
    }
    return made;
}

static bool expect_no_call_between(const StagesRun *run, const RankCalls *calls) {
    for (int s = 1; s < run->stages - 1; s++) {
        double bytes;
        if (tie_calls(run, calls, s, &bytes) > 0) {
            check_fail(run->check,
                       "stage %d of %d calls NCCL in tie_sum(), and sends %.0f bytes: stages in "
                       "between do nothing there",
                       s, run->stages, bytes);
            return false;
        }
    }
    return true;
}

static bool expect_halves_sent(const StagesRun *run, const RankCalls *calls) {
    double right = 4.0 * (double)run->tied * run->windows;
    for (int s = 0; s < run->stages; s += run->stages - 1) {
        double bytes;
        tie_calls(run, calls, s, &bytes);
        if (!(fabs(bytes - right) < 0.5)) {
            check_fail(run->check,
                       "stage %d of %d sends %.0f bytes in tie_sum(), after %d windows: its half "
                       "of the tied gradient, once for each window, is %.0f bytes",
                       s, run->stages, bytes, run->windows, right);
            return false;
        }
    }
    return true;
}

bool stages_expect_tie_calls(const StagesRun *run) {
    RankCalls calls;
    if (!ranks_take_calls(run->check, &calls) || !expect_no_call_between(run, &calls) ||
        !expect_halves_sent(run, &calls)) {
        return false;
    }
    check_good(run->check);
    return true;
}

/* Scratch memory of the ops is there before the window. */
static bool expect_nothing_beside(const StagesRun *run) {
    const uint64_t *other = check_got(run->check, "other bytes", WIRE_U64);
    for (int s = 0; s < run->stages; s++) {
        if (other[s] != 0) {
            check_fail(run->check,
                       "stage %d of %d: at the peak the window has %llu bytes that are neither "
                       "activations nor data: it needs no others",
                       s, run->stages, (unsigned long long)other[s]);
            return false;
        }
    }
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
    if (!expect_nothing_beside(run)) {
        return false;
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
