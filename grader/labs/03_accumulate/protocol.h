/**
 * @file protocol.h
 * @brief What the judge and the probe of lab 03 say to each other, beside what all windows do.
 * @ingroup grader
 */
#ifndef GRADER_LABS_03_ACCUMULATE_PROTOCOL_H
#define GRADER_LABS_03_ACCUMULATE_PROTOCOL_H

#include "grader/probe_windows.h"

/** The run that is asked for. */
enum {
    OPTION_MICROS = OPTION_OWN, /**< micro-batches of a full window */
    OPTION_EPOCHS,              /**< times that the data are gone through */
    OPTION_STOP,                /**< windows after which report() says stop; 0 for never */
};

#endif
