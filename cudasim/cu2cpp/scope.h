/**
 * @file scope.h
 * @brief Where in a program a token stands.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CU2CPP_SCOPE_H
#define CUDASIM_CU2CPP_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

/** Whether token i is inside of any braces but those of namespaces. */
bool in_function(size_t i);

/** Whether token i is inside of any braces but those of namespaces and classes. */
bool in_body(size_t i);

/** The first token of the statement that has token i. */
size_t statement_begin(size_t i);

/** The next ; from i on, outside of brackets; NONE if there is none. */
size_t semicolon_after(size_t i);

/** The first token of what stands before the body of a function or class that opens at `brace`. */
size_t header_begin(size_t brace);

/** Whether the { begins a namespace, or what `extern "C"` stands before. */
bool opens_namespace(size_t brace);

/** Whether the { begins the body of a function or lambda. */
bool opens_body(size_t brace);

/** The closing brace of what token i is in, or NONE. */
size_t enclosing_end(size_t i);

/**
 * The opening brace of the next body of a function after token i, of a class too; NONE if there is
 * none before `end`.
 */
size_t next_body(size_t i, size_t end);

#endif
