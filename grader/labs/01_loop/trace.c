/* Mistakes that the trace of a step shows. */
#include "grader/labs/01_loop/trace.h"

#include <stddef.h>

/* It does not matter here which of its batches a forward pass runs. */
static bool event_is(uint64_t noted, Event event) {
    return noted == (uint64_t)event || (event == EVENT_FORWARD && noted > EVENT_FORWARD);
}

/* The first place of an event in a trace; -1 where it is not. */
static int trace_first(const uint64_t *trace, Event event) {
    for (int i = 0; i < TRACE_LENGTH; i++) {
        if (event_is(trace[i], event)) {
            return i;
        }
    }
    return -1;
}

static int trace_count(const uint64_t *trace, Event event) {
    int count = 0;
    for (int i = 0; i < TRACE_LENGTH; i++) {
        count += event_is(trace[i], event);
    }
    return count;
}

int loop_updates(const uint64_t *trace) {
    return trace_count(trace, EVENT_STEP);
}

static bool trace_between(const uint64_t *trace, int from, int to, Event event) {
    for (int i = from; i < to; i++) {
        if (event_is(trace[i], event)) {
            return true;
        }
    }
    return false;
}

/* The mistake in the order, or NULL. Any order that is right passes: gradients may be zeroed
   more often than needed, norms computed more often. */
const char *loop_wrong_order(const uint64_t *trace, bool clipped, bool cleared) {
    int backward = trace_first(trace, EVENT_BACKWARD), step = trace_first(trace, EVENT_STEP);
    if (trace_count(trace, EVENT_FORWARD) != 1 || trace_count(trace, EVENT_LOOK) != 0) {
        return "a step runs forward once: model_forward() gives the loss and keeps what "
               "model_backward() needs";
    }
    if (trace_count(trace, EVENT_BACKWARD) != 1 || backward < trace_first(trace, EVENT_FORWARD)) {
        return "model_backward() comes once, after model_forward()";
    }
    if (trace_count(trace, EVENT_STEP) != 1 || step < backward) {
        return "optimizer_step() comes once, after model_backward()";
    }
    if (!clipped && !trace_between(trace, backward, step, EVENT_NORM)) {
        return "optimizer_clip() comes after model_backward() and before optimizer_step()";
    }
    if (trace_between(trace, backward, step, EVENT_ZERO)) {
        return "model_zero_grad() comes between model_backward() and optimizer_step()";
    }
    if (!cleared && !trace_between(trace, step, TRACE_LENGTH, EVENT_ZERO)) {
        return "model_zero_grad() comes after optimizer_step(): gradients are zero when a step "
               "ends";
    }
    return NULL;
}

bool loop_norm_too_early(const uint64_t *trace) {
    int backward = trace_first(trace, EVENT_BACKWARD);
    return trace_between(trace, 0, backward, EVENT_NORM) &&
           !trace_between(trace, backward, TRACE_LENGTH, EVENT_NORM);
}

const char LOOP_NO_WEIGHT[] = "all gradients are zero after model_backward(): its weight is 0. In "
                              "whole numbers 1 / valid is 0: divide floats";

const char *loop_no_gradients(const uint64_t *trace, float max_grad_norm) {
    int step = trace_first(trace, EVENT_STEP), backward = trace_first(trace, EVENT_BACKWARD);
    if (step < 0) {
        return NULL;
    }
    if (backward < 0 || backward > step) {
        return "all gradients are zero when the optimizer steps: model_backward() has not run";
    }
    if (trace_between(trace, backward, step, EVENT_ZERO)) {
        return "all gradients are zero when the optimizer steps: model_zero_grad() comes between "
               "model_backward() and optimizer_step()";
    }
    if (!trace_between(trace, backward, step, EVENT_SCALE)) {
        return LOOP_NO_WEIGHT;
    }
    return max_grad_norm > 0 ? "all gradients are zero when the optimizer steps: they are scaled "
                               "by 0 after model_backward()"
                             : "all gradients are zero when the optimizer steps: they are scaled "
                               "by 0 after model_backward(); a max_grad_norm of 0 means that "
                               "nothing is clipped";
}
