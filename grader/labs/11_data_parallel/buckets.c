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

/* Parts are numbered as backward comes to them: 0 is the head, L + 1 the embedding. */
static int part_of_param(const BucketTrial *trial, int i) {
    const Param *param = &trial->sums->given.reference->params[i];
    int L = trial->sums->given.config.L;
    bool of_head = i == LNF_WEIGHT || i == LNF_BIAS;
    return of_head ? 0 : param->layer < 0 ? L + 1 : L - param->layer;
}

static void buckets_work_out(BucketTrial *trial, double bucket_bytes) {
    const Reference *reference = trial->sums->given.reference;
    double bytes = 0;
    for (int part = 0; part < trial->parts; part++) {
        for (int i = 0; i < reference->param_count; i++) {
            if (part_of_param(trial, i) == part) {
                trial->want[trial->wanted] = 4 * (double)reference->params[i].count;
                trial->bucket_of[trial->wanted] = trial->buckets;
                bytes += trial->want[trial->wanted++];
            }
        }
        trial->last_part[trial->buckets] = part;
        if (bytes >= bucket_bytes || part == trial->parts - 1) {
            trial->buckets++;
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

/* The bucket of each call: a group, or a call by itself. @return how many */
static int buckets_of(const BucketRank *rank, int bucket[MOST_PARAMS]) {
    int count = 0;
    for (int i = 0; i < rank->calls; i++) {
        bool same =
            i > 0 && rank->call[i]->group != 0 && rank->call[i]->group == rank->call[i - 1]->group;
        count += !same;
        bucket[i] = count - 1;
    }
    return count;
}

/* The calls of the contract, part after part, whatever their groups. */
static bool same_calls(const BucketTrial *trial, const BucketRank *rank) {
    bool same = rank->calls == trial->wanted;
    for (int i = 0; same && i < rank->calls; i++) {
        same = rank->call[i]->collective == CUDASIM_ALL_REDUCE &&
               rank->call[i]->bytes == trial->want[i];
    }
    return same;
}

/* How many of these calls are in bucket `of`, and have `size` bytes. */
static int calls_like(int count, const double *bytes, const int *bucket, int of, double size) {
    int like = 0;
    for (int i = 0; i < count; i++) {
        like += bucket[i] == of && bytes[i] == size;
    }
    return like;
}

/* In a bucket, the calls may be in any order. That all ranks have the same one, the simulator sees
   where sizes differ, and the sums where they do not. */
static bool same_buckets(const BucketTrial *trial, const BucketRank *rank) {
    int bucket[MOST_PARAMS], count = rank->calls;
    double bytes[MOST_PARAMS];
    bool same = count == trial->wanted && buckets_of(rank, bucket) == trial->buckets;
    for (int i = 0; same && i < count; i++) {
        bytes[i] = rank->call[i]->bytes;
        same = rank->call[i]->collective == CUDASIM_ALL_REDUCE && bucket[i] == trial->bucket_of[i];
    }
    for (int i = 0; same && i < count; i++) {
        same = calls_like(count, bytes, bucket, bucket[i], bytes[i]) ==
               calls_like(count, trial->want, trial->bucket_of, bucket[i], bytes[i]);
    }
    return same;
}

/* The first bucket that has other calls or bytes, in words. */
static void tell_bucket(const BucketTrial *trial, const BucketRank *rank, char text[120]) {
    int bucket[MOST_PARAMS];
    buckets_of(rank, bucket);
    for (int b = 0; b < trial->buckets; b++) {
        int calls = 0, wanted = 0;
        double bytes = 0, right = 0;
        for (int i = 0; i < rank->calls; i++) {
            calls += bucket[i] == b;
            bytes += bucket[i] == b ? rank->call[i]->bytes : 0;
        }
        for (int i = 0; i < trial->wanted; i++) {
            wanted += trial->bucket_of[i] == b;
            right += trial->bucket_of[i] == b ? trial->want[i] : 0;
        }
        if (calls != wanted || bytes != right) {
            snprintf(text, 120, ": bucket %d has %d of %.0f bytes, and %d of %.0f are right", b + 1,
                     calls, bytes, wanted, right);
            return;
        }
    }
    snprintf(text, 120, ", and some of a bucket have other bytes, or are other calls");
}

/* The calls of every rank by themselves: no group has two. */
static bool ungrouped(const BucketTrial *trial) {
    int bucket[MOST_PARAMS];
    const BucketRank *rank = &trial->rank[0];
    return rank->calls > 1 && buckets_of(rank, bucket) == rank->calls;
}

/* As many calls, from the embedding on to the head. */
static bool forwards(const BucketTrial *trial) {
    const BucketRank *rank = &trial->rank[0];
    double wte = 4 * (double)trial->sums->given.reference->params[WTE].count;
    return rank->calls == trial->wanted && rank->call[0]->bytes == wte &&
           rank->call[rank->calls - 1]->bytes == trial->want[0];
}

static void suspect_calls(const BucketTrial *trial) {
    Check *check = trial->sums->given.check;
    int bucket[MOST_PARAMS], count = buckets_of(&trial->rank[0], bucket);
    bool calls = same_calls(trial, &trial->rank[0]);
    check_suspect(check,
                  "every all-reduce is by itself: those of a bucket are one group, and start as "
                  "one launch",
                  ungrouped(trial));
    check_suspect(check,
                  "the buckets begin with the embedding: backward completes the head first, and "
                  "the embedding last",
                  forwards(trial));
    check_suspect(check,
                  "all gradients are in one bucket: it can be sent only when backward is over, and "
                  "nothing is left to run beside it",
                  calls && count == 1);
    check_suspect(check,
                  "the buckets are cut in other places: one takes whole parts until it has at "
                  "least bucket_bytes, and the next begins empty",
                  calls && (count > 1 || trial->buckets == 2) && !ungrouped(trial));
}

bool buckets_expect_calls(BucketTrial *trial) {
    Check *check = trial->sums->given.check;
    for (int r = 0; r < trial->sums->ranks; r++) {
        const BucketRank *rank = &trial->rank[r];
        if (!same_buckets(trial, rank)) {
            int bucket[MOST_PARAMS];
            char text[120];
            tell_bucket(trial, rank, text);
            check_compared(check, false,
                           "rank %d: %d all-reduces in %d groups; the contract has %d in %d "
                           "buckets of at least %d bytes%s",
                           r, rank->calls, buckets_of(rank, bucket), trial->wanted, trial->buckets,
                           trial->sums->option[DDP_BUCKET], text);
            suspect_calls(trial);
            return false;
        }
    }
    return check_compared(check, true, "%s", "");
}

bool buckets_expect_contracted(BucketTrial *trial) {
    for (int r = 0; r < trial->sums->ranks; r++) {
        if (!same_buckets(trial, &trial->rank[r])) {
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
