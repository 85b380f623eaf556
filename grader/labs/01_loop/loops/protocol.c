/* Experiments on their way to the loops under test, and replies on theirs back. */
#include "grader/labs/01_loop/loops/protocol.h"

#include <math.h>
#include <unistd.h>

#include "grader/wire.h"

/* ---- what is in range ------------------------------------------------------------------------ */

static bool in_range(int64_t value, int64_t low, int64_t high) {
    return value >= low && value <= high;
}

static const char *batch_fault(const LoopBatch *batch) {
    if (!in_range(batch->B, 1, LOOP_ROWS) || !in_range(batch->T, 1, LOOP_LENGTH)) {
        return "a batch has 1 to LOOP_ROWS rows of 1 to LOOP_LENGTH tokens";
    }
    for (int i = 0; i < batch->B * batch->T; i++) {
        if (!in_range(batch->tokens[i], 0, LOOP_VOCABULARY - 1)) {
            return "tokens are from 0 to LOOP_VOCABULARY - 1";
        }
        if (batch->targets[i] != IGNORE_INDEX &&
            !in_range(batch->targets[i], 0, LOOP_VOCABULARY - 1)) {
            return "targets are from 0 to LOOP_VOCABULARY - 1, or IGNORE_INDEX";
        }
    }
    return NULL;
}

static const char *schedule_fault(const Schedule *schedule) {
    enum { MOST = 1 << 30 };
    bool steps = in_range(schedule->warmup_steps, 0, MOST) &&
                 in_range(schedule->max_steps, 0, MOST) && in_range(schedule->step, 0, MOST);
    bool good = steps && in_range((int64_t)schedule->decay, 0, DECAY_CONSTANT) &&
                isfinite(schedule->learning_rate);
    return good ? NULL : "a schedule has steps from 0 on and a finite rate";
}

const char *loop_fault(const LoopExperiment *experiment) {
    if (!in_range(experiment->steps, 1, LOOP_MOST_STEPS)) {
        return "an experiment has 1 to LOOP_MOST_STEPS steps";
    }
    if (!(experiment->max_grad_norm >= 0 && isfinite(experiment->max_grad_norm))) {
        return "max_grad_norm is a number from 0 on";
    }
    const char *fault = schedule_fault(&experiment->schedule);
    for (int i = 0; i < experiment->steps && fault == NULL; i++) {
        fault = batch_fault(&experiment->batch[i]);
    }
    return fault;
}

/* ---- the way there and back ------------------------------------------------------------------ */

bool loop_exchange(bool write_it, void *data, size_t bytes) {
    char *at = data;
    while (bytes > 0) {
        ssize_t n = write_it ? write(WIRE_BESIDE, at, bytes) : read(WIRE_BESIDE, at, bytes);
        if (n <= 0) {
            return false;
        }
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

LoopReply loop_try(const LoopUnderTest *loop, const LoopExperiment *experiment) {
    const char *fault = loop_fault(experiment);
    CHECK(fault == NULL, "loop_try: %s", fault);
    static LoopRequest request;
    static LoopReply reply;
    request.number = loop->number;
    request.experiment = *experiment;
    bool good =
        loop_exchange(true, &request, sizeof request) && loop_exchange(false, &reply, sizeof reply);
    CHECK(good, "the loops under test are gone");
    return reply;
}
