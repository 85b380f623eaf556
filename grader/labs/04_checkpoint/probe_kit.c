/* Lab 04 without a submission: plain steps, which have the right bits. */
#include "grader/labs/04_checkpoint/shared.h"
#include "grader/probe.h"

static void steps_plain(const Wire *in, Wire *out) {
    steps_run(in, out, &(StepsBy){.forward = model_forward, .backward = model_backward});
}

const ProbeCase probe_cases[] = {{"plain", steps_plain}, {NULL, NULL}};
