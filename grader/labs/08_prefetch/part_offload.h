/**
 * @file part_offload.h
 * @brief Passes whose inputs the submission keeps in host memory, as the judge asks for them.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_PART_OFFLOAD_H
#define GRADER_LABS_08_PREFETCH_PART_OFFLOAD_H

#include "grader/labs/08_prefetch/protocol.h"

/**
 * The case "offloaded": the passes of offload_passes() (shared.h), by offload_forward() and
 * offload_backward(), recorded. With PASS_AGAIN others are opened and closed before them, beside
 * them and after them.
 *
 * @param[in]     in  what the judge gives
 * @param[in,out] out the tensors it wants; "kept": bytes of the host, and handles, that stay
 */
void offload_case(const Wire *in, Wire *out);

#endif
