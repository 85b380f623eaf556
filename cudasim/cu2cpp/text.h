/**
 * @file text.h
 * @brief Text that grows.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CU2CPP_TEXT_H
#define CUDASIM_CU2CPP_TEXT_H

#include <stddef.h>

/** A string; begins as {0}, and its owner frees `text`. */
typedef struct Text {
    char *text;      /**< ends with a NUL; NULL before the first append() */
    size_t length;   /**< characters */
    size_t capacity; /**< bytes that there is room for */
} Text;

/** Adds characters at the end. */
void append(Text *to, const char *text, size_t length);

/** Adds a string at the end. */
void append_text(Text *to, const char *text);

/** realloc() that ends the program where there is no memory. */
void *grow(void *old, size_t bytes);

#endif
