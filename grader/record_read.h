/**
 * @file record_read.h
 * @brief Reads a record that lay in a file, where anybody may have written it.
 * @ingroup grader
 *
 * What is read can be shown and exported like a record that was just made: every check has a name,
 * a state and points, every text is clean as record_clean() makes it. The score is added up again,
 * never believed.
 */
#ifndef GRADER_RECORD_READ_H
#define GRADER_RECORD_READ_H

#include <jansson.h>
#include <stddef.h>

/**
 * A record from bytes.
 *
 * @param bytes  JSON
 * @param size   how many; more than 64 MiB are refused
 * @param name   of the file, for the message
 * @return to be released with json_decref(); NULL after a line on stderr
 */
json_t *record_parse(const char *bytes, size_t size, const char *name);

/** The same from a file. */
json_t *record_read(const char *path);

#endif
