/**
 * @file fp16.h
 * @brief The pictures of lab 05, each in a file of its own, and what they train with.
 * @ingroup train
 */
#ifndef TRAIN_SHOW_FP16_H
#define TRAIN_SHOW_FP16_H

#include "common/data.h"
#include "common/lab.h"
#include "labs/05_fp16/contract.h"

/** A model on the CPU with all that a step needs. */
typedef struct Setup {
    Device *device;  /**< the CPU */
    Memory *memory;  /**< without a budget */
    Mixed mixed;     /**< in half precision only */
    Trainer trainer; /**< with the techniques of the labs that are linked in */
} Setup;

/** Makes a model of that shape, to be trained at a constant rate. Ends the program where there is
 * no device. */
void setup_open(Setup *setup, const ModelConfig *config, float learning_rate);

/** Frees all of it. */
void setup_close(Setup *setup);

/** The kit's text in rows of T tokens, B at a time; owned by the caller. Ends the program where it
 * is not there. */
Data *setup_text(int B, int T);

/** The next batch, from epoch to epoch; valid until the one after. */
Batch setup_next(Data *data);

/**
 * How small gradients are, and what fp16 makes of them: prints the shares by loss scale.
 *
 * @param path SVG file to be written
 * @return 0; -1 where it could not be drawn, which has been said
 */
int show_histogram(const char *path);

/** Training with and without float masters; the same contract. */
int show_frozen(const char *path);

/** Where half costs memory instead of saving it; the same contract. */
int show_crossover(const char *path);

#endif
