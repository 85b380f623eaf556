/* Windows of many parts, in which no model runs. The contract is in leaves.h. */
#include "grader/labs/11_data_parallel/leaves.h"

#include <stdio.h>
#include <stdlib.h>

#include "grader/judge_profile.h"
#include "grader/judge_ranks.h"
#include "grader/labs/11_data_parallel/bucket_list.h"
#include "grader/labs/11_data_parallel/protocol.h"

enum { LEAVES_RANKS = 2 };

/* A run, and what each of its windows has, by Ddp. */
typedef struct LeavesTrial {
    Check *check;
    ModelConfig config;
    int32_t option[RANK_OPTIONS];
    uint64_t size[LEAVES_SIZES]; /* bucket_bytes */
    int32_t adapted[LEAVES_SIZES], windows[LEAVES_SIZES];
    BucketList want[LEAVES_SIZES];
    size_t weights[LEAVES_SIZES]; /* bytes that are broadcast */
    CudasimRecord record;
} LeavesTrial;

/* One rank in the record, up to an entry. */
typedef struct LeavesPlace {
    int rank;
    int opened;                         /* of the Ddp, from 0 on; -1 before the first */
    int micro;                          /* of this Ddp, from 0 on; -1 before the first */
    double broadcast;                   /* bytes of weights, of this Ddp */
    BucketList got;                     /* of this micro-batch */
    const CudasimEntry *before, *first; /* calls: the last of it, and the first of the Ddp */
} LeavesPlace;

/* ---- what is right --------------------------------------------------------------------------- */

static void leaves_add(BucketList *list, size_t count) {
    CHECK(list->count < MOST_PARAMS, "more than %d parameters", MOST_PARAMS);
    list->bucket[list->count] = list->buckets;
    list->bytes[list->count++] = 4 * (double)count;
}

static void leaves_work_out(LeavesTrial *trial, int of) {
    const ModelConfig *config = &trial->config;
    int count = trial->adapted[of] ? adapters_count(config) : params_count(config);
    Param *params = calloc((size_t)count, sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", count);
    (trial->adapted[of] ? adapters_describe : params_describe)(params, config);
    BucketList *want = &trial->want[of];
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        trial->weights[of] += trial->adapted[of] ? sizeof(float) * params[i].count : 0;
    }
    int absent = trial->adapted[of] ? count - 1 : -1; /* without a gradient */
    for (int part = 0; part <= config->L + 1; part++) {
        for (int i = 0; i < count; i++) {
            if (bucket_part(config->L, &params[i], i) == part && i != absent) {
                leaves_add(want, params[i].count);
                bytes += 4 * params[i].count;
            }
        }
        if (bytes >= trial->size[of] || (bytes > 0 && part == config->L + 1)) {
            want->buckets++;
            bytes = 0;
        }
    }
    free(params);
}

/* Everything in one bucket, more than 1 MiB of it; adapters, of some blocks and of one. The first
   bucket of some has a block more, since a gradient is absent; and the last is not full, since the
   others do not divide. */
static LeavesTrial *leaves_new(Check *check) {
    LeavesTrial *trial = (LeavesTrial *)check_doubles(check, sizeof *trial / sizeof(double) + 1);
    ModelConfig config = {.V = 256, .T = 12, .L = 23, .NH = 2, .C = 32};
    config.adapter =
        (Adapter){.rank = 2, .targets = 1 << LINEAR_QKV | 1 << LINEAR_FCPROJ, .alpha = 4};
    int block = 4 * config.adapter.rank * 9 * config.C; /* C and 4 C inputs, 3 C and C outputs */
    int few = check_int(check, 3, 5) * block;           /* exactly: the absent gradient shows */
    *trial = (LeavesTrial){
        .check = check,
        .config = config,
        .option = {[RANKS_COUNT] = LEAVES_RANKS, [RANKS_GPU] = true, [LEAVES_MICROS] = 2},
        .size = {(uint64_t)1 << 40, (uint64_t)few, 1},
        .adapted = {false, true, true},
        .windows = {1, 2, 2},
    };
    for (int i = 0; i < LEAVES_SIZES; i++) {
        leaves_work_out(trial, i);
    }
    return trial;
}

/* ---- the record ------------------------------------------------------------------------------ */

/* Which Ddp, in words. */
static void tell_ddp(const LeavesTrial *trial, const LeavesPlace *place, char text[200]) {
    snprintf(text, 200, "%d blocks, %s, buckets of at least %llu bytes: rank %d, window %d",
             trial->config.L,
             trial->adapted[place->opened] ? "of which adapters alone are trained (lab 10)"
                                           : "without adapters",
             (unsigned long long)trial->size[place->opened], place->rank,
             place->micro / trial->option[LEAVES_MICROS] + 1);
}

/* A micro-batch is over. Of one that is not its window's last, other checks say what they need. */
static bool leaves_expect_micro(const LeavesTrial *trial, const LeavesPlace *place) {
    int micros = trial->option[LEAVES_MICROS];
    const BucketList *want = &trial->want[place->opened];
    if (place->micro % micros != micros - 1 || bucket_lists_same(&place->got, want)) {
        return true;
    }
    char ddp[200], text[120];
    tell_ddp(trial, place, ddp);
    bucket_lists_tell(&place->got, want, text);
    check_compared(
        trial->check, false,
        "%s, after %d micro-batches: %d all-reduces in %d groups; the contract has %d in "
        "%d buckets%s",
        ddp, micros, place->got.count, place->got.buckets, want->count, want->buckets, text);
    check_suspect(trial->check,
                  "the first window has the right buckets, and a later one has not: each begins "
                  "with a bucket that is empty, and has 0 bytes",
                  place->micro >= micros && place->got.count == want->count);
    if (place->opened == LEAVES_TURNED) {
        check_tell(trial->check,
                   "\namid these micro-batches another Ddp, which is open as well, has "
                   "some of its own, none of them the last of a window");
    }
    return false;
}

/* The first micro-batch begins. */
static bool leaves_expect_broadcast(const LeavesTrial *trial, const LeavesPlace *place) {
    size_t right = trial->weights[place->opened];
    if (place->broadcast == (double)right) {
        return true;
    }
    check_compared(
        trial->check, false,
        "%d blocks, of which adapters alone are trained (lab 10): ddp_broadcast() of rank "
        "%d has %.0f bytes, and the weights in model->params have %zu",
        trial->config.L, place->rank, place->broadcast, right);
    return false;
}

/* All calls of the Ddp come before what the host does after ddp_close(). */
static bool leaves_expect_closed(const LeavesTrial *trial, const LeavesPlace *place,
                                 const CudasimEntry *closed) {
    for (const CudasimEntry *e = place->first; e != NULL && e < closed; e++) {
        if (e->rank == place->rank && e->kind == CUDASIM_COLLECTIVE &&
            !ranks_before(&trial->record, e, closed)) {
            check_compared(trial->check, false, "rank %d closes a Ddp whose windows are over",
                           place->rank);
            check_suspect(trial->check,
                          "ddp_close() returns while a sum is on its way: the host waits for the "
                          "stream there",
                          true);
            return false;
        }
    }
    return true;
}

static bool leaves_expect_no_wait(const LeavesTrial *trial, const LeavesPlace *place,
                                  const CudasimEntry *e) {
    if (!bucket_is_of_ddp(e) || !record_waits(&trial->record, e)) {
        return true;
    }
    char ddp[200], where[CHECK_LABEL];
    tell_ddp(trial, place, ddp);
    check_compared(trial->check, false, "%s: %s", ddp, record_place(e, where));
    check_suspect(trial->check, bucket_host_waits_sentence, true);
    return false;
}

static bool leaves_expect_comm(const LeavesTrial *trial, const LeavesPlace *place,
                               const CudasimEntry *e) {
    int right = place->opened == LEAVES_TURNED ? LEAVES_RANKS - 1 - place->rank : place->rank;
    if (place->opened < 0 || !bucket_is_of_ddp(e) || e->comm_rank == right) {
        return true;
    }
    char where[CHECK_LABEL];
    check_compared(trial->check, false, "rank %d: %s", place->rank, record_place(e, where));
    check_suspect(trial->check,
                  "several Ddps are open, and a call goes to the communicator of another one: each "
                  "keeps its own, and sums in the last micro-batch of its own window",
                  true);
    return false;
}

/* Goes past an entry. */
static bool leaves_go_past(const LeavesTrial *trial, LeavesPlace *place, const CudasimEntry *e) {
    if (e->kind == CUDASIM_COLLECTIVE && !leaves_expect_comm(trial, place, e)) {
        return false;
    }
    if (e->kind == CUDASIM_COLLECTIVE && place->micro >= 0) {
        place->first = place->first != NULL ? place->first : e;
        bucket_list_add(&place->got, e, place->before);
        place->before = e;
    }
    if (e->kind == CUDASIM_HOST_WAIT && place->micro >= 0) {
        return leaves_expect_no_wait(trial, place, e);
    }
    if (e->kind == CUDASIM_COLLECTIVE && e->collective == CUDASIM_BROADCAST) {
        place->broadcast += e->bytes;
    }
    int mark = e->kind == CUDASIM_FILL && !bucket_is_of_ddp(e) ? (int)e->bytes : 0;
    bool good = true;
    switch (mark) {
    case LEAVES_OPENED:
        *place = (LeavesPlace){.rank = place->rank, .opened = place->opened + 1, .micro = -1};
        break;
    case LEAVES_MICRO:
    case LEAVES_ENDED:
        good = place->micro < 0 ? leaves_expect_broadcast(trial, place)
                                : leaves_expect_micro(trial, place);
        place->micro = mark == LEAVES_MICRO ? place->micro + 1 : -1;
        place->got = (BucketList){0};
        place->before = NULL;
        break;
    case LEAVES_CLOSED:
        good = leaves_expect_closed(trial, place, e);
        break;
    default:
        break;
    }
    return good;
}

static bool leaves_expect_rank(const LeavesTrial *trial, int rank) {
    LeavesPlace place = {.rank = rank, .opened = -1, .micro = -1};
    for (size_t i = 0; i < trial->record.count; i++) {
        const CudasimEntry *e = &trial->record.entry[i];
        if (e->rank == rank && !leaves_go_past(trial, &place, e)) {
            return false;
        }
    }
    if (place.opened != LEAVES_SIZES - 1) {
        check_fail(trial->check, "the windows of rank %d are not in the record", rank);
        return false;
    }
    return true;
}

bool leaves_judge(Check *check) {
    LeavesTrial *trial = leaves_new(check);
    check_give_again(check, "config", WIRE_BYTES, &trial->config, sizeof trial->config);
    check_give_again(check, "ranks", WIRE_I32, trial->option, RANK_OPTIONS);
    check_give(check, "sizes", WIRE_U64, trial->size, LEAVES_SIZES);
    check_give(check, "adapted", WIRE_I32, trial->adapted, LEAVES_SIZES);
    check_give(check, "windows", WIRE_I32, trial->windows, LEAVES_SIZES);
    if (!ranks_start(check, "leaves", SECONDS) || !profile_expect_no_problem(check) ||
        !record_take(check, &trial->record)) {
        return false;
    }
    for (int r = 0; r < LEAVES_RANKS; r++) {
        if (!leaves_expect_rank(trial, r)) {
            return false;
        }
    }
    check_good(check);
    return true;
}
