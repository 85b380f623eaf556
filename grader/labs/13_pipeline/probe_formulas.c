/* Lab 13's schedules and predictions: a program of its own; nothing in it runs a model or counts
   its bytes. */
#include <string.h>

#include "grader/labs/13_pipeline/protocol.h"
#include "grader/probe.h"
#include "grader/shape.h"

static int given_plans(const Wire *in) {
    size_t count;
    wire_get(in, "plans", WIRE_I32, &count);
    return (int)(count / PLAN_NUMBERS);
}

static PipePlan given_plan(const Wire *in, int i) {
    const int32_t *n = (const int32_t *)wire_get(in, "plans", WIRE_I32, NULL) + i * PLAN_NUMBERS;
    return (PipePlan){.order = (PipeOrder)n[PLAN_ORDER],
                      .stages = n[PLAN_STAGES],
                      .stage = n[PLAN_STAGE],
                      .micros = n[PLAN_MICROS]};
}

static void pipe_parts_case(const Wire *in, Wire *out) {
    const int32_t *layers = wire_get(in, "layers", WIRE_I32, NULL);
    uint64_t *to = wire_get(out, "parts", WIRE_U64, NULL);
    for (int i = 0; i < given_plans(in); i++, to += PART_NUMBERS) {
        ModelConfig config = {.V = 65, .T = 8, .L = layers[i], .NH = 2, .C = 8};
        PipePlan plan = given_plan(in, i);
        ModelPart part = pipe_part(&config, plan.stages, plan.stage);
        to[PART_FIRST] = (uint64_t)part.first;
        to[PART_LAST] = (uint64_t)part.last;
        to[PART_EMBEDDING] = part.embedding;
        to[PART_HEAD] = part.head;
        to[PART_WHOLE] = part.shards == 1 && part.shard == 0 && part.weights && part.grads;
    }
}

/* Two places more than there is work: nobody may write there. */
static void pipe_orders_case(const Wire *in, Wire *out) {
    uint64_t *to = wire_get(out, "orders", WIRE_U64, NULL);
    for (int i = 0; i < given_plans(in); i++, to += ORDER_PLACES) {
        PipePlan plan = given_plan(in, i);
        PipeWork work[ORDER_PLACES];
        memset(work, 0xFF, sizeof work);
        pipe_order(&plan, work);
        for (int k = 0; k < ORDER_PLACES; k++) {
            unsigned char backward;
            memcpy(&backward, &work[k].backward, sizeof backward);
            to[k] =
                work[k].micro < 0 ? ORDERS_BLANK : 2 * (uint64_t)work[k].micro + (backward != 0);
        }
    }
}

static void pipe_in_flight_case(const Wire *in, Wire *out) {
    uint64_t *to = wire_get(out, "in flight", WIRE_U64, NULL);
    for (int i = 0; i < given_plans(in); i++) {
        PipePlan plan = given_plan(in, i);
        to[i] = (uint64_t)pipe_in_flight(&plan);
    }
}

static void pipe_bubble_case(const Wire *in, Wire *out) {
    uint64_t *to = wire_get(out, "bubbles", WIRE_U64, NULL);
    for (int i = 0; i < given_plans(in); i++) {
        PipePlan plan = given_plan(in, i);
        double bubble = pipe_bubble(plan.stages, plan.micros);
        memcpy(&to[i], &bubble, sizeof bubble);
    }
}

static void pipe_bytes_case(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        PipePlan plan = given_plan(in, i);
        MemoryUse use = pipe_bytes(&shape.config, &plan, shape.B, shape.T);
        uint64_t *to = shape_answer(in, out, i);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            to[kind] = use.bytes[kind];
        }
    }
}

static void pipe_wire_case(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        PipePlan plan = given_plan(in, i);
        *shape_answer(in, out, i) = pipe_wire(&shape.config, &plan, shape.B, shape.T);
    }
}

const ProbeCase probe_cases[] = {
    {"parts", pipe_parts_case},
    {"orders", pipe_orders_case},
    {"in_flight", pipe_in_flight_case},
    {"bubble", pipe_bubble_case},
    {"bytes", pipe_bytes_case},
    {"wire", pipe_wire_case},
    {NULL, NULL},
};
