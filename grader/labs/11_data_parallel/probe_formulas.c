/* Lab 11's rules and predictions: a program of its own; nothing in it runs a model. */
#include "grader/labs/11_data_parallel/protocol.h"
#include "grader/probe.h"
#include "grader/shape.h"
#include "labs/11_data_parallel/contract.h"

/* Six numbers each: begin, rows, B, rank, ranks, turns; four answers. */
static void shards(const Wire *in, Wire *out) {
    size_t count;
    const uint64_t *q = wire_get(in, "questions", WIRE_U64, &count);
    uint64_t *answer = wire_get(out, "answers", WIRE_U64, NULL);
    for (size_t i = 0; i < count / 6; i++, q += 6, answer += 4) {
        size_t first = 0;
        answer[0] = shard_rows(q[0], q[1], q[2], (int)q[3], (int)q[4], &first);
        answer[1] = first;
        answer[2] = shard_end(q[0], q[1], q[2], (int)q[4], q[5]);
        answer[3] = shard_turns(q[0], q[1], q[2], (int)q[4]);
    }
}

/* B of a shape is the number of ranks. */
static void sent(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *(double *)(void *)shape_answer(in, out, i) = ddp_sent(&shape.config, shape.B);
    }
}

static void buckets(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) = (uint64_t)ddp_buckets(&shape.config, shape_bucket(&shape));
    }
}

/* Three numbers each: count, rank, ranks. */
static void ring_of_formulas(const Wire *in, Wire *out) {
    size_t count;
    const uint64_t *q = wire_get(in, "questions", WIRE_U64, &count);
    uint64_t *answer = wire_get(out, "answers", WIRE_U64, NULL);
    for (size_t i = 0; i < count / 3; i++, q += 3) {
        answer[i] = ring_sent(q[0], (int)q[1], (int)q[2]);
    }
}

static void times(const Wire *in, Wire *out) {
    size_t count, all;
    const int32_t *buckets_of = wire_get(in, "counts", WIRE_I32, &count);
    const double *complete = wire_get(in, "complete", WIRE_F64, &all);
    const double *reduce = wire_get(in, "reduce", WIRE_F64, &all);
    double *answer = wire_get(out, "times", WIRE_F64, NULL);
    for (size_t i = 0; i < count; i++) {
        answer[i] = ddp_time(buckets_of[i], complete, reduce);
        complete += buckets_of[i];
        reduce += buckets_of[i];
    }
}

const ProbeCase probe_cases[] = {{"shards", shards},         {"sent", sent},   {"buckets", buckets},
                                 {"ring", ring_of_formulas}, {"times", times}, {NULL, NULL}};
