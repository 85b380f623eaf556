/**
 * @file free_symbols.h
 * @brief What a hand-in of any lab may use and define beside what its lab lists.
 * @ingroup grader
 */
#ifndef GRADER_FREE_SYMBOLS_H
#define GRADER_FREE_SYMBOLS_H

#include <stdbool.h>

/**
 * Whether a hand-in's file may use a symbol that no list of its lab names:
 *
 * - TODO() and CHECK();
 * - what compilers call by themselves: to set, copy and compare arrays, also where the source has
 *   a loop or no word of it, to guard a stack, to find data;
 * - functions of `<math.h>` whose result depends on their arguments alone, for double, float and
 *   long double. Not lgamma(), which writes a variable that all threads share;
 * - in a `.cu`, what the simulator makes of kernels and their launches, and printf(), which a
 *   kernel may call.
 *
 * @param file   the source's name
 * @param symbol as nm prints it
 */
bool symbol_is_free(const char *file, const char *symbol);

/**
 * Whether it may define a weak symbol: in a `.cu`, what a compiler makes of templates in the
 * simulator's headers.
 */
bool symbol_may_be_weak(const char *file, const char *symbol);

#endif
