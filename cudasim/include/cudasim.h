/**
 * @file cudasim.h
 * @brief What a program may ask of the simulator itself, beyond CUDA's own calls.
 * @ingroup cudasim
 */
#ifndef CUDASIM_H
#define CUDASIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How many problems have been reported so far: for tests of which many run in one program. */
int cudasim_problems(void);

/**
 * Bytes that kernels, copies and products have moved since the last call: 32-byte sectors of device
 * memory, each counted once per operation that reads it and once per operation that writes it, as
 * if all that an operation reads again were found in a cache. The first call begins to count. Wait
 * for the device before each.
 *
 * @return bytes; 0 from the first call, and from all of them in a build with neither ACCESS=1 nor
 *         TRAFFIC=1
 */
double cudasim_traffic_bytes(void);

/**
 * Loads and stores of kernels, in device memory and in shared memory, that check mode has looked at
 * so far; those of a launch that is run again for comparison count once.
 *
 * @return how many; -1 without check mode, where nothing is looked at
 */
double cudasim_accesses(void);

/**
 * The line of source that an address of code belongs to: "blur.cu:12 (blur)"; the nearest symbol or
 * the bare address where nothing is known of lines.
 *
 * @param      pc   a return address: one past the instruction that is meant
 * @param[out] text (size) the line
 * @param      size of text, bytes
 */
void cudasim_describe_code(const void *pc, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
