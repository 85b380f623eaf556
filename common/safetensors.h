/**
 * @file safetensors.h
 * @brief The file format for tensors that Hugging Face models come in: reading and writing.
 * @ingroup common
 *
 *     8 bytes     length of the header, little endian
 *     header      JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *     the rest    the tensors' bytes; offsets count from here, without gap or overlap
 *
 * A file comes from the outside: nothing in it is believed before it is checked, and nothing is
 * allocated for what it only claims.
 *
 * Source: the format's description in the safetensors repository (README, "Format").
 */
#ifndef COMMON_SAFETENSORS_H
#define COMMON_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** More dimensions than this are refused. */
enum { SAFETENSORS_RANK = 8 };

/** One tensor of a file. */
typedef struct SafeTensor {
    const char *name;                 /**< as in the header */
    const char *dtype;                /**< "F32", "F16", "BF16", "I64", ... */
    int rank;                         /**< dimensions; 0 for a single number */
    uint64_t shape[SAFETENSORS_RANK]; /**< sizes, row-major */
    const unsigned char *data;        /**< little endian, not aligned; reading only */
    size_t bytes;                     /**< size of data */
} SafeTensor;

/** A file that was read and checked. */
typedef struct SafeFile SafeFile;

/**
 * Maps a file into memory and checks all of its header.
 *
 * @return to be given to safetensors_close(); NULL (and one line on stderr) where it cannot be read
 *         or is invalid
 */
SafeFile *safetensors_open(const char *path);

/**
 * The same for bytes in memory, which stay the caller's and must outlive the result.
 *
 * @param bytes the file's content
 * @param size  how many bytes
 * @param name  its name in messages
 */
SafeFile *safetensors_parse(const void *bytes, size_t size, const char *name);

/** NULL is fine. */
void safetensors_close(SafeFile *file);

/** Number of tensors. */
size_t safetensors_count(const SafeFile *file);

/** Tensor `index`, in the order of their bytes. Borrowed from the file. */
const SafeTensor *safetensors_at(const SafeFile *file, size_t index);

/** The tensor of this name, or NULL. Borrowed from the file. */
const SafeTensor *safetensors_find(const SafeFile *file, const char *name);

/** An entry of the header's "__metadata__", or NULL. Borrowed from the file. */
const char *safetensors_metadata(const SafeFile *file, const char *key);

/**
 * Writes length and header; the caller then writes the tensors' bytes, in this order, without gap.
 *
 * @param file     a stream at its beginning
 * @param tensors  names, dtypes, shapes, bytes; data is not looked at
 * @param count    how many
 * @param metadata pairs of key and value, then NULL
 * @return 0, or -1 if the stream failed
 */
int safetensors_write_header(FILE *file, const SafeTensor *tensors, size_t count,
                             const char *const *metadata);

#endif
