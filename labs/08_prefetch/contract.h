/**
 * @file contract.h
 * @brief The holes of lab 08: copies that run while the device computes.
 * @ingroup labs
 *
 * The runtime works in CUDA's default stream. A copy in a stream of its own, which the default
 * stream does not wait for (cudaStreamNonBlocking), may run beside it; events say what it has to
 * wait for, and what waits for it.
 *
 * *Prefetch.* A slot has a place for one batch in host memory and one on the device. While the
 * model works on the batch of one slot, the next one is read and copied into another.
 *
 *     copy k     after    the work on batch k - slots, which was in the same slot
 *     work on k  after    copy k
 *
 * *Offload.* Checkpointing (lab 04) keeps the input of each segment until backward. Here two of
 * them have a place on the device. Each goes to the host while its segment runs forward, and comes
 * back while the segment above it runs backward.
 *
 * In a training step that reads its loss, nothing here makes the host wait for anything that is
 * not over. Works on the GPU device alone: on the CPU, host and device are one memory.
 *
 * Sources: CUDA C++ Programming Guide, "Asynchronous Concurrent Execution"; M. Rhu et al., "vDNN:
 * Virtualized deep neural networks for scalable, memory-efficient neural network design", arXiv
 * 1602.08124.
 */
#ifndef LABS_08_PREFETCH_CONTRACT_H
#define LABS_08_PREFETCH_CONTRACT_H

#include "common/trainer.h"

/* ---- prefetch -------------------------------------------------------------------------------- */

/** Where batches come from. */
typedef struct BatchReader {
    /**
     * Reads the next batch into host memory.
     *
     * @param[out] tokens  (B, T) of the largest batch
     * @param[out] targets (B, T)
     * @param[out] batch   its shape and its valid targets
     * @return 1; 0 after the last batch; -1 where it failed. Where it is not 1, all three may hold
     *         anything
     */
    int (*read)(void *context, int32_t *tokens, int32_t *targets, Batch *batch);
    void *context; /**< given to it */
} BatchReader;

/** Batches on their way to the device. */
typedef struct Prefetch Prefetch;

/**
 * Prepares slots; reads nothing yet. Several may be open at once, each with a reader of its own.
 *
 * The host memory of a slot, 2 * tokens numbers, is pinned, or, for comparison, pageable: then the
 * host takes part in each copy. The device memory, as many numbers, comes from the lane "slots" of
 * `memory`, kind data.
 *
 * @param memory of a GPU device; borrowed
 * @param slots  batches that are on the device at once, at least 1; with 1 nothing is read ahead
 * @param tokens B * T of the largest batch
 * @param pinned whether that memory is pinned
 * @param reader where batches come from; called by prefetch_next() alone
 * @return to be given to prefetch_close()
 */
Prefetch *prefetch_open(Memory *memory, int slots, size_t tokens, bool pinned, BatchReader reader);

/**
 * The next batch. Fills the free slots first: reads a batch for each, in order, and enqueues its
 * copy, of the batch's own B * T tokens and as many targets. So while the caller works on the
 * batch, the next slots - 1 are on their way.
 *
 * Where the reader ends or fails, the batches before are handed out first, and it is not called
 * again until prefetch_stop(). The call that gives 0 or -1 leaves nothing in flight: the host waits
 * there, and not before, for every copy.
 *
 * @param      prefetch the slots
 * @param[out] batch    device memory (batch->on_device), to be used in the default stream; valid up
 *                      to the next call of any function here, by which all work on it is enqueued
 * @return 1; 0 after the last batch, and -1 after the last before the reader failed: `batch` is
 *         left alone
 */
int prefetch_next(Prefetch *prefetch, Batch *batch);

/**
 * Forgets what was read and not handed out; nothing is in flight. prefetch_next() then begins anew
 * with what the reader gives next, also after an end or a failure.
 */
void prefetch_stop(Prefetch *prefetch);

/** Stops, and gives all memory, the structure's too, events and the stream back, also where copies
    were in flight. NULL is fine. */
void prefetch_close(Prefetch *prefetch);

/** Bytes of all slots on the device, and as many of host memory, for batches of (B, T). */
size_t prefetch_bytes(int slots, int B, int T);

/**
 * How long it takes to copy batches and work on them, where launches cost nothing.
 *
 * @param batches how many, at least 1
 * @param slots   at least 1
 * @param copy    seconds to copy one
 * @param work    seconds to work on one
 */
double prefetch_time(int batches, int slots, double copy, double work);

/* ---- offload --------------------------------------------------------------------------------- */

/** Segments of L blocks in segments of S: the last one may be short. */
static inline int offload_segments(int L, int S) {
    int whole = L / S;
    return whole * S == L ? whole : whole + 1;
}

/** Bytes of an input: (B, T, C). */
static inline size_t offload_input(const ModelConfig *config, int B, int T) {
    return (size_t)B * (size_t)T * (size_t)config->C * precision_bytes(config->precision);
}

/**
 * Prepares pinned host memory, for the input of each segment and not more, a stream and events, for
 * passes of one model at a time. Several may be open at once, each for a model of its own.
 *
 * @param config  the model
 * @param B       the most sequences of a batch
 * @param T       the most tokens of a sequence
 * @param segment blocks of a segment, 1 to L; the last one is short where L is not a multiple of it
 * @return to be given to offload_close()
 */
Offload *offload_open(const ModelConfig *config, int B, int T, int segment);

/** Waits for its copies, also after a forward pass without its backward, and gives all of it back.
    NULL is fine. */
void offload_close(Offload *offload);

/**
 * Forward as model_forward(). Runs block after block and keeps nothing of it but the inputs of
 * segments: on the device the two latest boundaries, in host memory the input of every segment, the
 * last one too. Each is copied once, from when it is complete, while its segment runs.
 *
 * @param offload for this shape
 * @param model   on a GPU device; no pass may be in flight
 * @param batch   as for model_forward()
 * @return sum of the losses of the valid targets, in nats: the same bits as model_forward()
 */
double offload_forward(Offload *offload, Model *model, const Batch *batch);

/**
 * Backward as model_backward(), bit for bit. Runs every segment again, from the last to the first,
 * just before its backward. Each input comes back once, a segment before it is needed: that of the
 * last one while the head runs backward. The dropout stream ends where that of a plain step ends.
 *
 * @param offload as given to offload_forward()
 * @param model   after offload_forward()
 * @param dloss   the weight of each valid target's loss, as for model_backward()
 */
void offload_backward(Offload *offload, Model *model, float dloss);

/**
 * The most activation bytes at any one time of such a step, to the byte.
 *
 * @param config  the model
 * @param B       sequences
 * @param T       tokens per sequence
 * @param segment blocks of a segment, 1 to L
 */
size_t offload_bytes(const ModelConfig *config, int B, int T, int segment);

/** Bytes that one pass moves over the bus, out and back together. */
size_t offload_moved(const ModelConfig *config, int B, int T, int segment);

/**
 * Whether the copy of an input takes at most as long as the products of
 * its segment's forward: then they hide the bus, whatever the batch. Just as long is hidden, too.
 *
 * Forward of S blocks has S (24 C C + 4 T C) operations a token (8 C C + 16 C C for the matrices,
 * 4 T C for scores and values). A second run has as many, and backward twice as many.
 *
 * @param config  the model
 * @param T       tokens per sequence
 * @param segment blocks of a segment
 * @param bus     bytes per second, each way
 * @param rate    operations per second in the model's precision
 */
bool offload_hides(const ModelConfig *config, int T, int segment, double bus, double rate);

#endif
