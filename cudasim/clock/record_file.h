/**
 * @file record_file.h
 * @brief A record as a file: one JSON object a line.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CLOCK_RECORD_FILE_H
#define CUDASIM_CLOCK_RECORD_FILE_H

#include <stdio.h>

#include "cudasim/include/cudasim_record.h"

/** Writes the entries of a record. @return whether all of it was written */
bool record_file_write(const CudasimRecord *record, FILE *file);

/** A record that was read, and the memory of all that is in it. */
typedef struct RecordFile RecordFile;

/**
 * Reads a record.
 *
 * @return to be given to record_file_free(); NULL, and a line on stderr with the place of the
 *         mistake, if the file cannot be read or is not a record
 */
RecordFile *record_file_load(const char *path);

/** Its entries. */
CudasimRecord record_file_entries(const RecordFile *file);

/** Frees it. NULL is fine. */
void record_file_free(RecordFile *file);

/** The word for a kind of entry: "launch". */
const char *record_file_kind(CudasimKind kind);

#endif
