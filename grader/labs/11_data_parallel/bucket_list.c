/* Lists of all-reduces. The contract is in bucket_list.h. */
#include "grader/labs/11_data_parallel/bucket_list.h"

#include <stdio.h>
#include <string.h>

const char bucket_host_waits_sentence[] =
    "the host waits in ddp.c for what is not over: leave waiting to the streams";

bool bucket_is_of_ddp(const CudasimEntry *e) {
    const char *name = strrchr(e->file, '/');
    return strcmp(name != NULL ? name + 1 : e->file, "ddp.c") == 0;
}

int bucket_part(int L, const Param *param, int i) {
    bool of_head = i == LNF_WEIGHT || i == LNF_BIAS;
    return param->layer >= 0 ? L - param->layer : of_head ? 0 : L + 1;
}

void bucket_list_add(BucketList *list, const CudasimEntry *call, const CudasimEntry *before) {
    if (list->count == MOST_PARAMS) {
        return;
    }
    bool same = before != NULL && call->group != 0 && call->group == before->group;
    list->buckets += !same;
    bool sums = call->collective == CUDASIM_ALL_REDUCE;
    list->others += !sums;
    list->other = !sums && list->other == NULL ? call->name : list->other;
    list->bytes[list->count] = sums ? call->bytes : -1;
    list->bucket[list->count++] = list->buckets - 1;
}

/* How many calls in bucket `of` have `size` bytes. */
static int calls_like(const BucketList *list, int of, double size) {
    int like = 0;
    for (int i = 0; i < list->count; i++) {
        like += list->bucket[i] == of && list->bytes[i] == size;
    }
    return like;
}

bool bucket_lists_same(const BucketList *got, const BucketList *want) {
    bool same = got->count == want->count && got->buckets == want->buckets;
    for (int i = 0; same && i < got->count; i++) {
        int b = got->bucket[i];
        same = b == want->bucket[i] &&
               calls_like(got, b, got->bytes[i]) == calls_like(want, b, got->bytes[i]);
    }
    return same;
}

/* Bytes of bucket b. @return and its calls */
static int bucket_calls(const BucketList *list, int b, double *bytes) {
    int calls = 0;
    *bytes = 0;
    for (int i = 0; i < list->count; i++) {
        calls += list->bucket[i] == b;
        *bytes += list->bucket[i] == b ? list->bytes[i] : 0;
    }
    return calls;
}

void bucket_lists_tell(const BucketList *got, const BucketList *want, char text[120]) {
    if (got->others > 0) {
        snprintf(text, 120, ": %d of them are other calls than all-reduces (%.30s)", got->others,
                 got->other);
        return;
    }
    for (int b = 0; b < want->buckets || b < got->buckets; b++) {
        double bytes, right;
        int calls = bucket_calls(got, b, &bytes), wanted = bucket_calls(want, b, &right);
        if (calls != wanted || bytes != right) {
            snprintf(text, 120,
                     ": bucket %d has %d calls, %.0f bytes; %d calls, %.0f bytes are right", b + 1,
                     calls, bytes, wanted, right);
            return;
        }
    }
    snprintf(text, 120, ", and some of a bucket have other bytes");
}
