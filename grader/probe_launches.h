/**
 * @file probe_launches.h
 * @brief A call of which nothing but its launches is of interest: profile_expect_launches().
 * @ingroup grader
 *
 * For a simulator that runs no kernel (CUDASIM_DRY=1): a size can be as large as a whole number
 * goes, and no tensor has more than the bytes that its address needs.
 */
#ifndef GRADER_PROBE_LAUNCHES_H
#define GRADER_PROBE_LAUNCHES_H

#include "common/memory.h"
#include "grader/probe.h"
#include "kernels/tensors.h"

/** The call, on a GPU of its own. */
typedef struct LaunchCall {
    const Wire *in;
    Device *device;
    Memory *memory;
} LaunchCall;

/** Makes the call, waits for the device, and gives all of it back. */
void launch_run(const Wire *in, void (*run)(const LaunchCall *call));

/** An address on the device, another one each time, with 64 bytes. */
void *launch_address(const LaunchCall *call);

/** A list of one tensor with n elements; its table cannot be read. */
TensorList launch_list(const LaunchCall *call, size_t n);

/** A workspace of that many bytes by its own word. */
Workspace launch_workspace(const LaunchCall *call, size_t bytes);

#endif
