/**
 * @file graphed.h
 * @brief The host's side of a captured training step: pinned memory, what the graph has by value,
 * and the state that capturing must not change.
 * @ingroup common
 *
 * A graph has addresses in it, and all that kernels got by value. What differs from one launch to
 * the next lies in memory that is pinned: the host writes it before a launch, copies in the graph
 * take it to the device, and others bring back what the host reads after it.
 *
 * Who captures and launches is the one that has this (lab 09); capture.h has the room.
 */
#ifndef COMMON_GRAPHED_H
#define COMMON_GRAPHED_H

#include "common/capture.h"
#include "common/trainer.h"

/** Bytes of each of the four places for the numbers of a step, and from it. */
enum { GRAPHED_BYTES = 64 };

/** The values in a graph; with other values it would be another one. */
typedef struct GraphedKey {
    int count;   /**< micro-batches */
    int B;       /**< sequences of each; 0 where they differ */
    int T;       /**< tokens of each sequence */
    float share; /**< the weight of each valid target: 1 / (those of the window) */
    float scale; /**< of the loss; 1 without a scaler */
} GraphedKey;

/** A captured step. */
typedef struct Graphed {
    Trainer *trainer;     /**< borrowed */
    CaptureRoom *room;    /**< its tensors */
    void *exec;           /**< cudaGraphExec_t; NULL: nothing is captured */
    GraphedKey key;       /**< of the graph, or of the window that was watched */
    void *control;        /**< GRAPHED_BYTES, pinned: the numbers for a step */
    void *result;         /**< GRAPHED_BYTES, pinned: the numbers from it */
    void *device_control; /**< GRAPHED_BYTES on the device */
    void *device_result;  /**< GRAPHED_BYTES on the device */
    int32_t *ids;         /**< (count, 2, B, T) pinned: tokens and targets of each micro-batch */
    float *losses;        /**< (count, B, T) pinned: of each target */
    uint64_t counters;    /**< of the dropout stream that a step takes */
    uint64_t forwards;    /**< blocks that run forward in a step */
    int micro;            /**< for who captures: the micro-batch in hand */
    int captures;         /**< how often it was captured */
    Ops ops;              /**< the model's table while it is captured */
    Model before;         /**< the model as it was before */
    int t;                /**< the optimizer's steps before */
} Graphed;

/**
 * Nothing is captured yet.
 *
 * @param trainer on a GPU, its memory unchecked; borrowed
 * @return to be given to graphed_free()
 */
Graphed *graphed_new(Trainer *trainer);

/** Frees graph, pinned memory and room. NULL is fine. */
void graphed_free(Graphed *graphed);

/** The key of a window of `count` micro-batches. */
GraphedKey graphed_key(const Trainer *trainer, const Batch *batches, int count);

/** Whether a window of that key can be launched or captured without being watched before. */
bool graphed_knows(const Graphed *graphed, GraphedKey key);

/** Drops what is captured, and watches the ordinary step that comes now. */
void graphed_watch(Graphed *graphed);

/** That step is over: room and pinned memory are those of such windows. */
void graphed_watched(Graphed *graphed, GraphedKey key);

/**
 * Opens the room. The model draws masks from offset 0 on, has a table of ops with this adamw() in
 * place of its own, and hands losses to `take` with `graphed`, until graphed_end().
 */
void graphed_begin(Graphed *graphed, adamw_fn *adamw,
                   void (*take)(void *context, const Pass *pass));

/** Closes the room. Model and optimizer are as before; counters and forwards are known. */
void graphed_end(Graphed *graphed);

/** Takes a graph (cudaGraph_t) in place of the one before, ready to be launched. */
void graphed_take(Graphed *graphed, void *graph);

/** Puts the ids of a window into their place. */
void graphed_give_ids(Graphed *graphed, const Batch *batches);

/** After a launch: loss and tokens of the window. All else of the report is 0. */
StepReport graphed_report(const Graphed *graphed, const Batch *batches);

#endif
