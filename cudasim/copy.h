/**
 * @file copy.h
 * @brief The inside of cudasim, copies: their two ends, and what these must keep to.
 * @ingroup cudasim
 */
#ifndef CUDASIM_COPY_H
#define CUDASIM_COPY_H

#include "device.h"

/** Bytes in memory: rows in slices. */
typedef struct Box {
    char *first;  /**< where they begin */
    size_t pitch; /**< bytes from one row to the next */
    size_t slice; /**< bytes from one slice to the next */
} Box;

/** How much of two boxes is meant. */
typedef struct Extent {
    size_t width;  /**< bytes of a row */
    size_t height; /**< rows of a slice */
    size_t depth;  /**< slices */
} Extent;

/** A copy that was asked for. */
typedef struct PendingCopy {
    Box to;           /**< its destination */
    Box from;         /**< its source */
    Extent extent;    /**< of both */
    bool to_device;   /**< as the call says: managed memory may be either */
    bool from_device; /**< likewise */
    bool waits;       /**< the call returns when it is over */
    bool captured;    /**< it runs when a graph gets to it, perhaps often */
    HostEnd to_end;   /**< of one that is captured */
    HostEnd from_end; /**< likewise */
    size_t padding;   /**< most bytes that may lie unwritten between members of what it copies */
    void *staged;     /**< what the source held when it was asked for, owned; or NULL */
} PendingCopy;

/** Where a row of a slice begins. */
static inline char *row_at(const Box *box, size_t row, size_t slice) {
    return box->first + row * box->pitch + slice * box->slice;
}

/** Bytes from the first to the last, what lies between rows included. */
static inline size_t span(const Box *box, Extent e) {
    return (size_t)(row_at(box, e.height - 1, e.depth - 1) - box->first) + e.width;
}

/** Whether p is in pinned memory that is not freed. */
bool is_pinned(const void *p);

/** Whether p is in memory of a device: allocated, or a variable. */
bool is_device(const void *p);

/** Whether both ends lie where the call says, hold the extent and do not overlap; a stream's slot
    uses them from now on. Else what is wrong is reported. */
bool good_copy(const char *call, Place place, const PendingCopy *copy, int slot);

/** Whether an end of a copy is, as a whole, in host memory that is pinned or registered. */
bool is_locked(const Box *end, Extent extent);

/** A graph holds the copy, until copy_forget(). */
void copy_note(PendingCopy *copy);

/** The copy, captured or not, is about to be freed. */
void copy_forget(PendingCopy *copy);

/** Whether it can run: of one in a graph, a source or destination that is gone is reported. */
bool copy_may_run(const PendingCopy *copy);

#endif
