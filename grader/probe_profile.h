/**
 * @file probe_profile.h
 * @brief What the simulator has seen of the kernels, on its way to the judge.
 * @ingroup grader
 */
#ifndef GRADER_PROBE_PROFILE_H
#define GRADER_PROBE_PROFILE_H

#include "grader/wire.h"

enum {
    PROFILE_LINES = 64, /**< lines that travel */
    PROFILE_NAME = 32,  /**< bytes of a kernel's name there */
};

/** The device memory traffic of one line of a kernel: "profile", an array as WIRE_BYTES. */
typedef struct ProfileLine {
    char kernel[PROFILE_NAME]; /**< name, with its NUL */
    int32_t write;             /**< or else read */
    int32_t used;              /**< 0 after the last one */
    double sectors;            /**< of 32 bytes that were touched */
    double ideal;              /**< the fewest that would do */
} ProfileLine;

/** Fills the wanted tensors "profile", and "problems": how many the simulator has reported. */
void hand_back_profile(Wire *out);

#endif
