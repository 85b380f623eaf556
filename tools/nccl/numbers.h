/**
 * @file numbers.h
 * @brief The numbers that a check of collectives sends, and what must become of them.
 * @ingroup tools
 */
#ifndef TOOLS_NCCL_NUMBERS_H
#define TOOLS_NCCL_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include <nccl.h>

/** Which numbers. */
typedef enum Numbers {
    NUMBERS_WHOLE,   /**< small integers: any order of sums gives the same, in each type */
    NUMBERS_FACTORS, /**< small integers whose product fits */
    NUMBERS_FRACTION /**< all bits of a float in use, from -1 to 1; for types with fractions */
} Numbers;

/** "half". */
const char *type_name(ncclDataType_t type);

/** "sum". */
const char *op_name(ncclRedOp_t op);

/** Bytes of an element. */
size_t type_bytes(ncclDataType_t type);

/** Whether it has fractions. */
bool type_is_real(ncclDataType_t type);

/** Element i of what a rank sends, stored at `to`. */
void number_store(void *to, Numbers numbers, ncclDataType_t type, int rank, size_t i);

/** An element of all ranks, reduced. */
typedef struct Reduced {
    char bits[8]; /**< as docs/nccl.md defines them: in the order of ranks */
    double exact; /**< in double */
    double error; /**< how far from that a result may be, in any order of sums */
} Reduced;

/** Reduces element i of what `ranks` ranks send. */
Reduced number_reduced(Numbers numbers, ncclDataType_t type, ncclRedOp_t op, int ranks, size_t i);

/** A number of a type as a double. */
double number_value(const void *from, ncclDataType_t type);

#endif
