/* Buckets in a record. The contract is in buckets.h. */
#include "grader/labs/11_data_parallel/buckets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const Machine bucket_machine = {.name = "machine whose launches cost nothing",
                                .memory = 100e9,
                                .f32 = 1e12,
                                .tf32 = 1e12,
                                .f16 = 1e12,
                                .bf16 = 1e12,
                                .to_device = 10e9,
                                .from_device = 10e9,
                                .link = 1,
                                .network = 1,
                                .kernels = 128,
                                .copy_engines = 2,
                                .node = 64};

/* ---- what is right --------------------------------------------------------------------------- */

static void buckets_work_out(BucketTrial *trial, double bucket_bytes) {
    const Reference *reference = trial->sums->given.reference;
    double bytes = 0;
    for (int part = 0; part < trial->parts; part++) {
        for (int i = 0; i < reference->param_count; i++) {
            if (bucket_part(trial->sums->given.config.L, &reference->params[i], i) == part) {
                trial->want.bytes[trial->want.count] = 4 * (double)reference->params[i].count;
                trial->want.bucket[trial->want.count] = trial->want.buckets;
                bytes += trial->want.bytes[trial->want.count++];
            }
        }
        trial->last_part[trial->want.buckets] = part;
        if (bytes >= bucket_bytes || part == trial->parts - 1) {
            trial->want.buckets++;
            bytes = 0;
        }
    }
}

/* ---- the record ------------------------------------------------------------------------------ */

static bool bucket_has_op(const CudasimEntry *e, const char *op) {
    return e->op != NULL && strcmp(e->op, op) == 0;
}

static double seconds_of(const CudasimEntry *e) {
    return fmax(e->bytes / bucket_machine.memory, e->flops / bucket_machine.f32);
}

/* The head's backward of the last micro-batch of a rank. */
static const CudasimEntry *last_backward(const CudasimRecord *record, int rank) {
    const CudasimEntry *found = NULL;
    for (size_t i = 0; i < record->count; i++) {
        const CudasimEntry *e = &record->entry[i];
        found = e->rank == rank && bucket_has_op(e, "crossentropy_backward") ? e : found;
    }
    return found;
}

/* Gradients that are filled before the first op count, and stand for nothing else. */
static void add_to_part(BackwardPart *part, const CudasimEntry *e) {
    part->seconds += seconds_of(e);
    if (e->op != NULL) {
        part->first = part->first != NULL ? part->first : e;
        part->last = e;
    }
}

/* A block's backward begins with the first of its two residuals; gradients are filled before. */
static bool find_parts(BucketTrial *trial, int r) {
    const CudasimEntry *begin = last_backward(&trial->record, r);
    BucketRank *rank = &trial->rank[r];
    int part = 0, residuals = 0;
    for (size_t i = begin != NULL ? begin->id - 1 : trial->record.count; i < trial->record.count;
         i++) {
        const CudasimEntry *e = &trial->record.entry[i];
        if (e->rank != r || e->stream != begin->stream || e->kind > CUDASIM_FILL) {
            continue;
        }
        bool embedding = bucket_has_op(e, "embedding_backward");
        if (part == trial->parts - 1 && !embedding) {
            break;
        }
        if (bucket_has_op(e, "residual_backward") && residuals++ % 2 == 0) {
            part++;
        }
        part = embedding ? trial->parts - 1 : part;
        if (part >= trial->parts) {
            break;
        }
        add_to_part(&rank->part[part], e);
    }
    return begin != NULL && rank->part[trial->parts - 1].first != NULL;
}

static void find_calls(BucketTrial *trial, int r) {
    BucketRank *rank = &trial->rank[r];
    for (size_t i = 0; i < trial->record.count; i++) {
        const CudasimEntry *e = &trial->record.entry[i];
        if (e->rank == r && e->kind == CUDASIM_COLLECTIVE && rank->calls < MOST_PARAMS) {
            rank->call[rank->calls++] = e;
        }
    }
}

bool buckets_run(BucketTrial *trial, SumTrial *sums, int bucket_bytes) {
    Check *check = sums->given.check;
    *trial = (BucketTrial){.sums = sums, .parts = sums->given.config.L + 2};
    sums->option[RANKS_RECORD] = true;
    sums->option[DDP_BUCKET] = bucket_bytes;
    buckets_work_out(trial, bucket_bytes);
    if (!sums_run(sums) || !record_take(check, &trial->record)) {
        return false;
    }
    for (int r = 0; r < sums->ranks; r++) {
        if (!find_parts(trial, r)) {
            check_fail(check, "the backward of rank %d is not in the record", r);
            return false;
        }
        find_calls(trial, r);
    }
    return true;
}

/* ---- which calls ----------------------------------------------------------------------------- */

/* The calls of a rank: a bucket is a group, or a call by itself. */
static void list_calls(const BucketRank *rank, BucketList *list) {
    *list = (BucketList){0};
    for (int i = 0; i < rank->calls; i++) {
        bucket_list_add(list, rank->call[i], i > 0 ? rank->call[i - 1] : NULL);
    }
}

/* The calls of the contract, part after part, whatever their groups. */
static bool same_calls(const BucketTrial *trial, const BucketList *got) {
    bool same = got->count == trial->want.count;
    for (int i = 0; same && i < got->count; i++) {
        same = got->bytes[i] == trial->want.bytes[i];
    }
    return same;
}

/* The calls by themselves: no group has two. */
static bool ungrouped(const BucketList *got) {
    return got->count > 1 && got->buckets == got->count;
}

/* As many calls, from the embedding on to the head. */
static bool forwards(const BucketTrial *trial, const BucketList *got) {
    double wte = 4 * (double)trial->sums->given.reference->params[WTE].count;
    return got->count == trial->want.count && got->bytes[0] == wte &&
           got->bytes[got->count - 1] == trial->want.bytes[0];
}

static void suspect_calls(const BucketTrial *trial) {
    Check *check = trial->sums->given.check;
    BucketList got;
    list_calls(&trial->rank[0], &got);
    if (got.others > 0) {
        return; /* other calls than sums are in no bucket, be it cut right or not */
    }
    bool calls = same_calls(trial, &got);
    check_suspect(check,
                  "every all-reduce is by itself: those of a bucket are one group, and start as "
                  "one launch",
                  ungrouped(&got));
    check_suspect(check,
                  "the buckets begin with the embedding: backward completes the head first, and "
                  "the embedding last",
                  forwards(trial, &got));
    check_suspect(check,
                  "all gradients are in one bucket: it can be sent only when backward is over, and "
                  "nothing is left to run beside it",
                  calls && got.buckets == 1);
    check_suspect(check,
                  "the buckets are cut in other places: one takes whole parts until it has at "
                  "least bucket_bytes of gradients, which are floats in every precision, and the "
                  "next begins empty",
                  calls && (got.buckets > 1 || trial->want.buckets == 2) && !ungrouped(&got));
}

bool buckets_expect_calls(BucketTrial *trial) {
    Check *check = trial->sums->given.check;
    for (int r = 0; r < trial->sums->ranks; r++) {
        BucketList got;
        list_calls(&trial->rank[r], &got);
        if (!bucket_lists_same(&got, &trial->want)) {
            char text[120];
            bucket_lists_tell(&got, &trial->want, text);
            check_compared(check, false,
                           "rank %d: %d collectives in %d groups; the contract has %d all-reduces "
                           "in %d buckets of at least %d bytes%s",
                           r, got.count, got.buckets, trial->want.count, trial->want.buckets,
                           trial->sums->option[DDP_BUCKET], text);
            suspect_calls(trial);
            return false;
        }
    }
    return check_compared(check, true, "%s", "");
}

bool buckets_expect_contracted(BucketTrial *trial) {
    for (int r = 0; r < trial->sums->ranks; r++) {
        BucketList got;
        list_calls(&trial->rank[r], &got);
        if (!bucket_lists_same(&got, &trial->want)) {
            check_compared(trial->sums->given.check, false,
                           "rank %d: the buckets are not those of the contract, so nothing can be "
                           "said of their order",
                           r);
            suspect_calls(trial);
            return false;
        }
    }
    return true;
}
