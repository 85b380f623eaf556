/* Lab 04 in the probe: a few steps by the submission, in as much memory as the judge allows. */
#include "grader/probe.h"
#include "grader/labs/04_checkpoint/shared.h"
#include "labs/04_checkpoint/contract.h"

static Checkpoint steps_chosen(const Wire *in, const ModelConfig *config) {
    Checkpoint checkpoint = {given_option(in, OPTION_SEGMENT),
                             given_option(in, OPTION_ATTENTION) != 0};
    if (given_option(in, OPTION_ASK_SEGMENT)) {
        Batch batch = given_batch(in, 0);
        checkpoint.segment =
            checkpoint_segment(config, batch.B, batch.T,
                               (size_t) * (const uint64_t *)wire_get(in, "choose", WIRE_U64, NULL));
    }
    return checkpoint;
}

static void steps_checkpointed(const Wire *in, Wire *out) {
    steps_run(
        in, out,
        &(StepsBy){.budget = (size_t) * (const uint64_t *)wire_get(in, "budget", WIRE_U64, NULL),
                   .closed = given_option(in, OPTION_CLOSED) != 0,
                   .choose = steps_chosen,
                   .forward = checkpoint_forward,
                   .backward = checkpoint_backward});
}

const ProbeCase probe_cases[] = {{"checkpointed", steps_checkpointed}, {NULL, NULL}};
