/**
 * @file capture.h
 * @brief A room in which work for a GPU can be captured as a CUDA graph: addresses that stay.
 * @ingroup common
 *
 * A graph has the addresses of its tensors in it, and capturing must not allocate, copy from
 * ordinary host memory, or wait. So a step that is to be captured runs once before, while the room
 * watches how much it allocates, and then its tensors come from one block that stays as it is for
 * as long as the graph lives:
 *
 *     CaptureRoom *room = capture_room_new(memory);
 *     capture_room_watch(room);
 *     ...                                       // one ordinary step
 *     capture_room_watched(room);
 *     capture_room_open(room);                  // the device's tensors come from the block
 *     cudaStreamBeginCapture(CAPTURE_STREAM, cudaStreamCaptureModeGlobal);
 *     ...                                       // the same step
 *     cudaStreamEndCapture(CAPTURE_STREAM, &graph);
 *     capture_room_close(room);
 *
 * Ops are launched into the default stream. CUDA captures it where programs are compiled with a
 * default stream for each thread, as the kit is; the simulator, whose only default stream it is,
 * knows it by the same name.
 *
 * The counts of Memory are those of an ordinary step, for that is what each replay takes: the block
 * is as large as what the step would have had at its peak.
 */
#ifndef COMMON_CAPTURE_H
#define COMMON_CAPTURE_H

#include "common/memory.h"

/** The default stream by the name under which it can be captured: a cudaStream_t. */
#define CAPTURE_STREAM cudaStreamPerThread

/** A block of device memory for the tensors of a captured step. */
typedef struct CaptureRoom CaptureRoom;

/**
 * A room without a block. Memory must not be checked (MemoryOptions.checked): guards are read by
 * the host.
 *
 * @param memory of the step; on a GPU; borrowed
 * @return to be given to capture_room_free() after the graph was destroyed
 */
CaptureRoom *capture_room_new(Memory *memory);

/**
 * Watches from now on how much is allocated, up to capture_room_watched(). A block of before is
 * freed: graphs that have its addresses in them must be gone.
 */
void capture_room_watch(CaptureRoom *room);

/** The step is over, and known; all that it allocated is released. The block is allocated. */
void capture_room_watched(CaptureRoom *room);

/**
 * From now on tensors come from the block. A step that needs more than was watched ends the program
 * with a message; so does a copy between host and device, which would wait.
 */
void capture_room_open(CaptureRoom *room);

/** Tensors come from the device again. All that came from the block must have been released. */
void capture_room_close(CaptureRoom *room);

/** Bytes of the block, each tensor rounded up to 256; 0 before capture_room_watched(). */
size_t capture_room_bytes(const CaptureRoom *room);

/** Frees the block. NULL is fine. */
void capture_room_free(CaptureRoom *room);

#endif
