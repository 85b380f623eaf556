/**
 * @file ptx.h
 * @brief Inline PTX: a statement as it was read, and what is written in its place.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CU2CPP_PTX_H
#define CUDASIM_CU2CPP_PTX_H

#include <stdbool.h>
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

/** The caller's file and line, as the last arguments of a call, and the end of it. */
#define HERE "__builtin_FILE(), __builtin_LINE()); "

/** Says that an instruction, or a part of it, is not simulated. @return true: there is no other. */
bool refuse(const Instruction *instruction, const char *what);

/** The next piece of ld.global.nc.f32, between dots. @return false at the end. */
bool next_piece(const char **name, char piece[LONGEST]);

/** The i-th of {%0, %1}, or %0 itself where there is one element. @return false: there is none. */
bool element_text(const char *text, int i, int elements, char element[LONGEST]);

/** Appends the C++ of %0, or of a number. @return false if the text is neither. */
bool append_operand(Text *out, const Asm *a, const char *text);

/** Appends that of [%1] or [%1 + 16], as a number of bytes from the `type`. @return false: none */
bool append_address(Text *out, const Asm *a, const char *text, const char *type);

/** Appends `(x) = cudasim_as<__typeof__(x)>(value);` for %0. @return false if it is none. */
bool append_result(Asm *a, const char *text, const char *value);

/** ldmatrix and mma.sync. @return false if it is another instruction. */
bool write_matrix(Asm *a, const Instruction *instruction);

#endif
