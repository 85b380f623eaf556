/**
 * @file absent.h
 * @brief What stands in for a lab's file that is not there, so that `train` links without it.
 * @ingroup train
 *
 * tools/labs_mk.py writes a source for each file of a lab.json. It includes nothing else, for it
 * defines the lab's functions without their parameters.
 */
#ifndef TRAIN_ABSENT_H
#define TRAIN_ABSENT_H

#include "common/lab.h"

/** A lab's file that was not there when the program was built. */
typedef struct LabAbsent {
    const char *lab;     /**< two digits */
    const char *file;    /**< "05_fp16/cast.cu" */
    const char *options; /**< those of `train` that need the lab, with spaces between: "--fp16" */
} LabAbsent;

/** Enters the file into the table of absent ones: the linker puts all entries side by side. */
#define LAB_ABSENT(lab, file, options)                                                             \
    static const LabAbsent absent = {lab, file, options};                                          \
    static const LabAbsent *const entry __attribute__((section("labs_absent"), used)) = &absent;

/** Defines a function of the file: whatever it is called with, it says which lab is missing. */
#define LAB_STAND_IN(function)                                                                     \
    void function(void);                                                                           \
    void function(void) {                                                                          \
        lab_missing(absent.lab, absent.file);                                                      \
    }

#endif
