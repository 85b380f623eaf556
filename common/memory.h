/**
 * @file memory.h
 * @brief The one place that tensors come from: counted to the byte, named, under a budget.
 * @ingroup common
 *
 * Memory is a stack. Weights, gradients and optimizer states are put down first and stay; the
 * activations of a step come on top, and are released in the opposite order:
 *
 *     MemoryMark mark = memory_mark(memory);
 *     Real *x = memory_alloc(memory, MEMORY_ACTIVATIONS, "attention.probs", layer, bytes);
 *     ...
 *     memory_release(memory, mark);     // x and all that came after it
 *
 * Only the bytes asked for are counted. Each tensor starts on a multiple of 256 bytes; the cost of
 * that is padding, a line of its own outside of the budget.
 *
 * Tensors that come and go in an order of their own, as those of each micro-batch in flight do, get
 * a stack of their own: a lane. It has the same calls, and the same budget and counts:
 *
 *     Memory *lane = memory_lane(memory, "micro-batch 1");
 */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/device.h"

/** The use of a tensor, in the words of the literature (docs/glossary.md). */
typedef enum MemoryKind {
    MEMORY_WEIGHTS,     /**< parameters as the forward pass reads them */
    MEMORY_GRADIENTS,   /**< one float per parameter */
    MEMORY_OPTIMIZER,   /**< moments, and float masters where weights are stored in half */
    MEMORY_ACTIVATIONS, /**< tensors that forward leaves for backward, and their gradients */
    MEMORY_WORKSPACE,   /**< scratch memory of the ops; depends on the device */
    MEMORY_DATA,        /**< tokens and targets */
    MEMORY_KINDS,       /**< how many kinds there are */
} MemoryKind;

/** "weights", "gradients", "optimizer", "activations", "workspace" or "data". */
const char *memory_kind_name(MemoryKind kind);

/** Bytes by kind. */
typedef struct MemoryUse {
    size_t bytes[MEMORY_KINDS]; /**< by MemoryKind */
} MemoryUse;

/** The sum over all kinds. */
size_t memory_total(const MemoryUse *use);

/** Bytes in MiB, for messages. */
double memory_mib(size_t bytes);

/** One tensor. */
typedef struct Tensor {
    const char *name; /**< its name, as "attention.probs"; the string is not copied */
    int layer;        /**< the layer that asked for it, or -1 */
    MemoryKind kind;  /**< its use */
    size_t bytes;     /**< as asked for */
    void *data;       /**< where it is, on the device */
    int lane;         /**< which lane has it, for memory_lane_name(); 0 for none */
} Tensor;

/** A change of memory, for a timeline. */
typedef struct MemoryEvent {
    double seconds;   /**< on the monotonic clock */
    bool allocated;   /**< came, or else went */
    Tensor tensor;    /**< which one */
    MemoryUse in_use; /**< afterwards */
} MemoryEvent;

/** Tensors of one program on one device: a stack, with its lanes; or one of the lanes. */
typedef struct Memory Memory;

/** How many tensors there are on the stack, at a moment one can go back to. */
typedef size_t MemoryMark;

/** How memory behaves. */
typedef struct MemoryOptions {
    size_t budget; /**< bytes that may be in use at once; 0 for no limit */
    bool checked;  /**< fresh and released memory is NaN, and guards stand between tensors */
} MemoryOptions;

/** Whether memory is checked by default: in sanitized and CHECKED=1 builds. */
bool memory_checked_by_default(void);

/**
 * An empty stack of tensors.
 *
 * @param device  where they live; borrowed
 * @param options budget and checks
 * @return to be given to memory_free()
 */
Memory *memory_new(Device *device, MemoryOptions options);

/** Releases all tensors, those of its lanes too. NULL is fine. */
void memory_free(Memory *memory);

/**
 * The lane of that name: a stack of its own under the budget of `memory`, and counted with it. It
 * begins empty, when it is first asked for, and costs nothing until it is used.
 *
 * Each of the functions here takes a lane as it takes a memory. What is allocated and released, and
 * marks, are those of the lane; budget, counts, peak and events are those of all together.
 *
 * @param memory the stack, or any of its lanes
 * @param name   for messages and pictures; copied. "" is the stack that memory_new() gave
 * @return owned by that stack, and freed with it
 */
Memory *memory_lane(Memory *memory, const char *name);

/**
 * A new tensor on top of the stack. Its content is undefined (NaN if memory is checked).
 *
 * Never returns NULL: if it does not fit into the budget or the device, the program ends with
 * status 1 and a message that names the tensor, its layer, and the bytes in use by kind.
 *
 * @param memory the stack
 * @param kind   its use
 * @param name   its name; the string must outlive the tensor
 * @param layer  for which layer, or -1
 * @param bytes  its size; may be 0
 * @return device memory, aligned to 256 bytes, owned by `memory`
 */
void *memory_alloc(Memory *memory, MemoryKind kind, const char *name, int layer, size_t bytes);

/** The same, with every byte zero: where a backward op will add. */
void *memory_alloc_zero(Memory *memory, MemoryKind kind, const char *name, int layer, size_t bytes);

/** The present height of the stack. */
MemoryMark memory_mark(const Memory *memory);

/** Releases all tensors that came after the mark. The mark must not lie above the stack. */
void memory_release(Memory *memory, MemoryMark mark);

/** The device that the tensors live on. */
Device *memory_device(const Memory *memory);

/** The limit in bytes, 0 if there is none. */
size_t memory_budget(const Memory *memory);

/** The bytes in use now. */
MemoryUse memory_now(const Memory *memory);

/** The bytes in use when the total was largest. */
MemoryUse memory_peak(const Memory *memory);

/** Bytes lost to alignment and guards at the peak; not part of any other number. */
size_t memory_padding(const Memory *memory);

/** How many lanes have been asked for, and one more: the stack itself. */
int memory_lanes(const Memory *memory);

/** The name of lane 0 to memory_lanes() - 1, in the order in which they were asked for; of 0 "". */
const char *memory_lane_name(const Memory *memory, int lane);

/** The bytes in use now in this lane alone, or, given the stack, outside of all lanes. */
size_t memory_lane_now(const Memory *lane);

/** The most that memory_lane_now() has been: each lane has a peak of its own, at its own time. */
size_t memory_lane_peak(const Memory *lane);

/**
 * The tensors that were alive at the peak, oldest first, of all lanes.
 *
 * @param      memory the stack
 * @param[out] count  how many
 * @return borrowed; valid until the next call of any function here
 */
const Tensor *memory_peak_tensors(Memory *memory, size_t *count);

/** Forgets the peak, and the lanes' own: the present use is the new one. */
void memory_peak_reset(Memory *memory);

/** Starts to record events (and forgets those of before), or stops. */
void memory_record(Memory *memory, bool on);

/**
 * The recorded events.
 *
 * @param      memory the stack
 * @param[out] count  how many events
 * @return borrowed; valid until something is allocated or released
 */
const MemoryEvent *memory_events(const Memory *memory, size_t *count);

/**
 * A function to call instead of exiting when an allocation is refused; for tests and graders. It
 * must not return.
 *
 * @param memory  the stack
 * @param refused called with `context` after the message was printed; NULL for exit(1)
 * @param context given to it
 */
void memory_on_refusal(Memory *memory, void (*refused)(void *context), void *context);

#endif
