/**
 * @file curand_draw.h
 * @brief The numbers of cuRAND's generators for the host, in NVIDIA's order.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CURAND_DRAW_H
#define CUDASIM_CURAND_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Kinds of numbers. */
typedef enum NumberKind {
    WORDS,             /**< unsigned, all 32 bits */
    UNIFORM,           /**< float in (0, 1] */
    UNIFORM_DOUBLE,    /**< double in (0, 1] */
    NORMAL,            /**< float */
    NORMAL_DOUBLE,     /**< double */
    LOG_NORMAL,        /**< float, e to the power of a normal number */
    LOG_NORMAL_DOUBLE, /**< double */
    POISSON            /**< unsigned */
} NumberKind;

/** How numbers are distributed. */
typedef struct Law {
    NumberKind kind;  /**< what they are */
    double mean;      /**< of normal numbers; of Poisson's, which it is above 0 */
    double deviation; /**< of normal numbers */
} Law;

/** Bytes of one number. */
size_t law_bytes(const Law *law);

/** Numbers that are made at once: 2 of normal ones, else 1. */
size_t law_numbers(const Law *law);

/** A generator's sequence and how far it has come. */
typedef struct Sequence Sequence;

/** One of XORWOW or of Philox4x32-10, of seed 0, at its begin; to be freed by sequence_free(). */
Sequence *sequence_new(bool philox);

/** Frees it; NULL is good. */
void sequence_free(Sequence *sequence);

/** Another seed. The place stays. */
void sequence_seed(Sequence *sequence, uint64_t seed);

/** Goes to the place where `offset` numbers of 32 bits come before. */
void sequence_offset(Sequence *sequence, uint64_t offset);

/**
 * Draws the next numbers.
 *
 * @param sequence goes on by them
 * @param law      what numbers
 * @param output   (count) host memory that takes them
 * @param count    how many: a multiple of law_numbers()
 */
void sequence_draw(Sequence *sequence, const Law *law, void *output, size_t count);

#endif
