/**
 * @file aside.h
 * @brief A file that is written under another name, and gets its own when it is whole.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CLOCK_ASIDE_H
#define CUDASIM_CLOCK_ASIDE_H

#include <stdbool.h>
#include <stdio.h>

/** Such a file. */
typedef struct AsideFile {
    FILE *file;       /**< to write to */
    const char *path; /**< its own name; borrowed */
    char *aside;      /**< the other name; NULL for a device or a pipe, which is written as it is */
} AsideFile;

/** Begins a file. @return false with the reason in errno if that cannot be done */
bool aside_begin(AsideFile *aside, const char *path);

/**
 * Ends it: gives it its name if `good` holds and all was written, else removes it.
 *
 * @return whether it is there; else the reason is in errno
 */
bool aside_end(AsideFile *aside, bool good);

#endif
