/**
 * @file declaration.h
 * @brief A declaration of variables of the device, as tokens: its type, its declarators, their
 * names.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CU2CPP_DECLARATION_H
#define CUDASIM_CU2CPP_DECLARATION_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/** A declaration, as text and as tokens. */
typedef struct Declaration {
    size_t begin;       /**< its first token */
    size_t end;         /**< the ; */
    bool dynamic;       /**< extern */
    bool in_file;       /**< outside of functions */
    Text alignment;     /**< "alignas(16)" and the like */
    Text type;          /**< "volatile float" */
    size_t declarators; /**< the first token of the first */
} Declaration;

/** Reads alignment and type; declarators begins after them. False if this is not a declaration. */
bool read_declaration(Declaration *declaration);

/** The comma or the ; that ends the declarator at i. */
size_t declarator_end(const Declaration *declaration, size_t i);

/** The name that is declared by the tokens [i, end), or NONE. */
size_t declared_name(size_t i, size_t end);

/** Appends a text in which each @ stands for the name that is token `name`. */
void append_with_name(Text *out, const char *text, size_t name);

#endif
