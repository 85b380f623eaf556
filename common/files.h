/**
 * @file files.h
 * @brief Files and folders: errors as one line on stderr, nothing half-written.
 * @ingroup common
 */
#ifndef COMMON_FILES_H
#define COMMON_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/** Prints path, what failed, and the reason in errno. @return -1, so that it can be returned */
int file_error(const char *path, const char *what);

/**
 * Writes what standard output still holds. @return 0; -1 with a line if anything printed is lost
 */
int stdout_flush(void);

/** `folder/name` as a new string, to be given to free(). */
char *path_join(const char *folder, const char *name);

/** Creates a folder and the ones above it; an existing one is fine. @return 0, or -1 with a line */
int folder_make(const char *path);

/** Removes a file, or a folder with all that is in it; a missing one is fine. @return 0 or -1 */
int tree_remove(const char *path);

/** Waits until a file or a folder's entries are on the disk. @return 0, or -1 with a line */
int path_sync(const char *path);

/**
 * Opens a file for writing under another name, `path.PID.part`: other processes may write the same
 * path at that time, and the one that ends last stays. A process writes a path once at a time. A
 * device or a pipe, as /dev/stdout, is written as it is.
 *
 * @return the stream; NULL (and a line on stderr) if that cannot be done
 */
FILE *file_begin(const char *path);

/**
 * Ends what file_begin() began: where every write succeeded and `keep` holds, syncs and renames it
 * to `path`; else removes it.
 *
 * @return 0; -1 (and a line on stderr, unless it was the caller who did not want to keep it)
 */
int file_end(FILE *file, const char *path, bool keep);

/**
 * The JSON object in a file; one in which a key stands twice is refused.
 *
 * @return to be given to json_decref(); NULL (and a line on stderr) if there is none
 */
json_t *file_load_json(const char *path);

/** Writes a JSON object, a key in each line. @return 0, or -1 with a line on stderr */
int file_save_json(const json_t *json, const char *path);

/**
 * Copies a file, aside and then renamed: other processes may do the same. Who may read, write and
 * run it stays, as far as the umask allows.
 *
 * @return 0; -1 with the reason in errno and nothing printed
 */
int file_copy(const char *from, const char *to);

#endif
