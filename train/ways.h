/**
 * @file ways.h
 * @brief How a run's model lies on its ranks: whole on each, or in shards, stages or slices.
 * @ingroup train
 *
 * All that a training run does differently for it is one of these functions. Each is called by all
 * ranks at the same place, but for those that say otherwise.
 */
#ifndef TRAIN_WAYS_H
#define TRAIN_WAYS_H

#include "common/rng.h"
#include "common/trainer.h"

struct Run;

/** A way to lay a model on ranks; every entry is filled. */
typedef struct Way {
    /** Makes what this rank has of the model: run->trainer.model. */
    void (*open)(struct Run *run);
    /** The labs' techniques are set; those of this way stand above them. */
    void (*join)(struct Run *run);
    /** The optimizer is there too. */
    void (*settle)(struct Run *run);
    /** Reads a checkpoint. @return 0, or -1 with a line on stderr */
    int (*load)(struct Run *run, const char *folder);
    /** Reads weights alone, a file of safetensors. @return as load() */
    int (*load_weights)(struct Run *run, const char *path);
    /** Weights and states are in place, read or drawn. */
    void (*restored)(struct Run *run);
    /** The trainer that is saved, validated and sampled. */
    Trainer *(*whole)(struct Run *run);
    /** Brings it up to date. */
    void (*gather)(struct Run *run);
    /** Writes a checkpoint where this rank has a folder, else takes part. @return as load() */
    int (*save)(struct Run *run);
    /** Whether all ranks are needed to validate, or rank 0 alone. */
    bool all_evaluate;
    /** Mean loss over the validation rows [nats per token]; NaN if there are none. */
    double (*evaluate)(struct Run *run);
    /** Goes on with the prompt by `count` bytes; a rank other than 0 wants 0 of them. */
    void (*sample)(struct Run *run, int count, Rng *rng, unsigned char *text);
    /** The bytes of this rank by kind, where a model that is whole takes `use`; B rows. */
    MemoryUse (*predict)(const struct Run *run, MemoryUse use, int B);
    /** Bytes that this rank sends in a window; 0 where there is no formula. */
    double (*sent)(const struct Run *run);
    /** The end, after that of the optimizer. */
    void (*close)(struct Run *run);
} Way;

/** The way that the options ask for. */
const Way *way_of(const struct Run *run);

#endif
