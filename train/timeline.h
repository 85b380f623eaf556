/**
 * @file timeline.h
 * @brief The memory of one step over time: as a picture, and as a trace for Chrome or Perfetto.
 * @ingroup train
 */
#ifndef TRAIN_TIMELINE_H
#define TRAIN_TIMELINE_H

#include "common/memory.h"

/**
 * Draws bytes in use over time, stacked by kind, with the peak and the five largest tensors that
 * were alive at it.
 *
 * @param memory where memory_record() was on during a step that reached the peak
 * @param title  one line above the picture
 * @param path   of the SVG
 * @return 0, or -1 with a line on stderr
 */
int timeline_picture(Memory *memory, const char *title, const char *path);

/**
 * The same for several memories, one above the other on the same scales: what a technique changes.
 *
 * @param memory (count) as above
 * @param title  (count) one line above each
 * @param count  1 to 4
 * @param path   of the SVG
 * @return 0, or -1 with a line on stderr
 */
int timeline_pictures(Memory *const *memory, const char *const *title, int count, const char *path);

/**
 * Writes the same events as a trace: one counter for each kind, one slice for each tensor's life. A
 * lane's tensors are a group of rows with its name.
 * Open it in chrome://tracing or ui.perfetto.dev.
 *
 * @return 0, or -1 with a line on stderr
 */
int timeline_trace(const Memory *memory, const char *title, const char *path);

#endif
