/* Lab 08 without a submission: plain passes on the same device, which have the right bits. */
#include "grader/labs/08_prefetch/shared.h"
#include "grader/probe.h"

static void plain(const Wire *in, Wire *out) {
    offload_passes(in, out,
                   &(PassesBy){.device = probe_device(true, 0),
                               .forward = model_forward,
                               .backward = model_backward});
}

const ProbeCase probe_cases[] = {{"plain", plain}, {NULL, NULL}};
