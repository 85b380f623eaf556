/**
 * @file ptx.h
 * @brief Inline PTX: a statement as it was read, and what is written in its place.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CU2CPP_PTX_H
#define CUDASIM_CU2CPP_PTX_H

#include <stddef.h>

#include "text.h"

enum {
    OPERANDS = 32, /**< of a statement, at most */
    PARTS = 8,     /**< operands of an instruction, at most */
    LONGEST = 200, /**< characters of a part, and a NUL */
};

/** asm("..." : "=r"(x) : "l"(p)) */
typedef struct Asm {
    size_t operand[OPERANDS][2]; /**< the tokens of (x), of (p): first, and one past the last */
    int operands;                /**< how many */
    Text out;                    /**< what stands in its place; the reader frees it */
} Asm;

/** ld.global.nc.v2.f32 {%0, %1}, [%2 + 8] */
typedef struct Instruction {
    size_t token;              /**< in which it begins */
    char name[LONGEST];        /**< ld.global.nc.v2.f32 */
    char part[PARTS][LONGEST]; /**< its operands: {%0, %1} is one */
    int parts;                 /**< how many */
} Instruction;

/** Appends the C++ of an instruction to the statement's, or says that there is none. */
void write_instruction(Asm *statement, Instruction *instruction);

#endif
