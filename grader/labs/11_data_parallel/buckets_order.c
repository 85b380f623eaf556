/* The order of buckets and backward, and how long both take. The contract is in buckets.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/labs/11_data_parallel/buckets.h"

/* ---- in which order -------------------------------------------------------------------------- */

/* Ways in which the order is wrong. */
typedef enum BucketMistake {
    BUCKET_EARLY,       /* before it is complete */
    BUCKET_IN_DEFAULT,  /* in the default stream */
    BUCKET_LATE,        /* later than it is complete */
    BUCKET_WAITED,      /* backward waits for it */
    BUCKET_HOST,        /* the host waits */
    BUCKET_NOT_AWAITED, /* what follows does not wait */
    BUCKET_MISTAKES
} BucketMistake;

static const char *const bucket_sentence[BUCKET_MISTAKES] = {
    [BUCKET_EARLY] = "a sum is not ordered after the backward that fills its bucket: its stream "
                     "has to wait for an event that is recorded in the default stream when the "
                     "bucket is closed",
    [BUCKET_IN_DEFAULT] = "the sums are in the default stream, one after the other with backward: "
                          "they need a stream of their own, cudaStreamNonBlocking",
    [BUCKET_LATE] = "a bucket is sent later than it is complete: it goes out when its last part "
                    "has run, and waits for nothing below",
    [BUCKET_WAITED] = "the backward of the parts below waits for a sum: the default stream waits "
                      "once, in ddp_end()",
    [BUCKET_HOST] = bucket_host_waits_sentence,
    [BUCKET_NOT_AWAITED] = "what follows is not ordered after the sums: in ddp_end() the default "
                           "stream waits for an event after the last of them",
};

/* Between the first and the last part of a rank's backward, and up to what follows. */
static bool bucket_host_waits(const BucketTrial *trial, int r) {
    const BucketRank *rank = &trial->rank[r];
    for (uint64_t id = rank->part[0].first->id; id <= rank->call[rank->calls - 1]->id + 8; id++) {
        if (id > trial->record.count) {
            break;
        }
        const CudasimEntry *e = &trial->record.entry[id - 1];
        if (e->rank == r && e->kind == CUDASIM_HOST_WAIT && bucket_is_of_ddp(e) &&
            record_waits(&trial->record, e)) {
            return true;
        }
    }
    return false;
}

/* The first copy to the host after backward: it reads gradients. */
static const CudasimEntry *reader(const BucketTrial *trial, int r) {
    for (uint64_t id = trial->rank[r].part[trial->parts - 1].last->id; id < trial->record.count;
         id++) {
        const CudasimEntry *e = &trial->record.entry[id];
        if (e->rank == r && e->kind == CUDASIM_COPY && e->way == CUDASIM_FROM_DEVICE) {
            return e;
        }
    }
    return NULL;
}

static void look_at_call(const BucketTrial *trial, int r, int i, bool present[BUCKET_MISTAKES]) {
    const CudasimRecord *record = &trial->record;
    const BucketRank *rank = &trial->rank[r];
    const CudasimEntry *call = rank->call[i], *after = reader(trial, r);
    int last = trial->last_part[trial->want.bucket[i]];
    present[BUCKET_IN_DEFAULT] |= call->stream == rank->part[0].first->stream;
    present[BUCKET_EARLY] |= !ranks_before(record, rank->part[last].last, call);
    present[BUCKET_NOT_AWAITED] |= after == NULL || !ranks_before(record, call, after);
    for (int p = last + 1; p < trial->parts; p++) {
        present[BUCKET_LATE] |= ranks_before(record, rank->part[p].first, call);
        present[BUCKET_WAITED] |= ranks_before(record, call, rank->part[p].last);
    }
}

/* One mistake has consequences that look like others: the first cause alone counts. */
static void keep_causes(bool present[BUCKET_MISTAKES]) {
    if (present[BUCKET_IN_DEFAULT] || present[BUCKET_HOST]) {
        present[BUCKET_LATE] = present[BUCKET_WAITED] = false;
    }
    if (present[BUCKET_IN_DEFAULT]) {
        present[BUCKET_NOT_AWAITED] = present[BUCKET_EARLY] = false;
    }
}

static bool compared(const BucketTrial *trial, bool right, const char *seen,
                     const bool present[BUCKET_MISTAKES]) {
    Check *check = trial->sums->given.check;
    check_compared(check, right, "%s", seen);
    for (int m = 0; m < BUCKET_MISTAKES; m++) {
        check_suspect(check, bucket_sentence[m], present[m]);
    }
    return right;
}

/* Looks at all calls; `seen` says which are not as they must be. */
static bool look_at_order(BucketTrial *trial, bool present[BUCKET_MISTAKES], char seen[200]) {
    bool right = true;
    for (int r = 0; r < trial->sums->ranks; r++) {
        present[BUCKET_HOST] |= bucket_host_waits(trial, r);
        for (int i = 0; i < trial->rank[r].calls; i++) {
            look_at_call(trial, r, i, present);
        }
    }
    keep_causes(present);
    for (int m = 0; m < BUCKET_MISTAKES; m++) {
        right = right && !present[m];
    }
    char place[CHECK_LABEL];
    snprintf(seen, 200, "%d buckets of a backward of %d parts, summed by %s", trial->want.buckets,
             trial->parts, record_place(trial->rank[0].call[0], place));
    return right;
}

bool buckets_expect_order(BucketTrial *trial) {
    bool present[BUCKET_MISTAKES] = {false};
    char seen[200];
    if (!buckets_expect_contracted(trial)) {
        return false;
    }
    bool right = look_at_order(trial, present, seen);
    return compared(trial, right, seen, present);
}

/* ---- how long -------------------------------------------------------------------------------- */

/* The slowest rank's backward, up to the end of a part. */
static double complete_at(const BucketTrial *trial, const Span *spans, int part) {
    double latest = 0;
    for (int r = 0; r < trial->sums->ranks; r++) {
        const BucketRank *rank = &trial->rank[r];
        double end = spans[rank->part[0].first->id - 1].begin;
        for (int p = 0; p <= part; p++) {
            end += rank->part[p].seconds;
        }
        latest = fmax(latest, end);
    }
    return latest;
}

/* Sums one after the other, each as early as it can. */
static double earliest_end(const BucketTrial *trial, const Span *spans, double link) {
    double R = trial->sums->ranks, end = 0;
    for (int b = 0; b < trial->want.buckets; b++) {
        end = fmax(end, complete_at(trial, spans, trial->last_part[b]));
        for (int i = 0; i < trial->want.count; i++) {
            end += trial->want.bucket[i] == b ? 2 * (R - 1) / R * trial->want.bytes[i] / link : 0;
        }
    }
    return end;
}

bool buckets_expect_makespan(BucketTrial *trial) {
    Check *check = trial->sums->given.check;
    bool present[BUCKET_MISTAKES] = {false};
    char seen[200];
    if (!buckets_expect_contracted(trial)) {
        return false;
    }
    double R = trial->sums->ranks, backward = 0, bytes = 0, last = 0;
    for (int p = 0; p < trial->parts; p++) {
        backward += trial->rank[0].part[p].seconds;
    }
    for (int i = 0; i < trial->want.count; i++) {
        bytes += trial->want.bytes[i];
    }
    Machine machine = bucket_machine; /* the sums take as long as backward */
    machine.link = machine.network = 2 * (R - 1) / R * bytes / backward;
    Span *spans =
        (Span *)check_doubles(check, trial->record.count * sizeof *spans / sizeof(double));
    Makespan took;
    if (!makespan(&trial->record, &machine, spans, &took)) {
        check_fail(check, "the record has no makespan");
        return false;
    }
    const BucketRank *rank = &trial->rank[0];
    for (int i = 0; i < rank->calls; i++) {
        last = fmax(last, spans[rank->call[i]->id - 1].end);
    }
    double begin = spans[rank->part[0].first->id - 1].begin;
    double most = earliest_end(trial, spans, machine.link) - begin;
    bool right = look_at_order(trial, present, seen) && last - begin <= 1.05 * most;
    snprintf(seen, sizeof seen,
             "declared %s: the last sum ends %.1f us after backward begins, and %.1f do",
             machine.name, 1e6 * (last - begin), 1e6 * most);
    check_tell(check, "%s; a lower bound, not measured\n", seen);
    return compared(trial, right, seen, present);
}
