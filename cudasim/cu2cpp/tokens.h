/**
 * @file tokens.h
 * @brief The input, cut into tokens: what a rewrite looks at and what it replaces.
 * @ingroup cudasim
 *
 * A token is named by its index. NONE is before the first and after the last.
 */
#ifndef CUDASIM_CU2CPP_TOKENS_H
#define CUDASIM_CU2CPP_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/** The kind of a token. */
typedef enum TokenKind {
    SPACE,     /**< blanks, newlines and comments */
    WORD,      /**< identifiers and keywords */
    NUMBER,    /**< 0x1p-3f and 1'000'000 */
    LITERAL,   /**< "text", 'c' and R"(raw)", without a prefix such as L */
    MARK,      /**< <<< :: -> or one character */
    DIRECTIVE, /**< a line that begins with a hash: line markers, pragmas */
} TokenKind;

/** A piece of the input. */
typedef struct Token {
    TokenKind kind;   /**< what it is */
    const char *text; /**< in the input; not terminated */
    size_t length;    /**< characters */
    char *instead;    /**< what is written in its place, or NULL */
} Token;

#define NONE ((size_t)-1) /**< no token */

extern Token *tokens;      /**< [0, token_count) */
extern size_t token_count; /**< how many */
extern int error_count;    /**< calls of error_at() */

/** Cuts `input`, which must live on; `name` is what messages call it. */
void cut_into_tokens(const char *name, const char *input);

/** The next token that is neither SPACE nor DIRECTIVE; of NONE it is NONE. So a bracket that is
 *  never closed ends each search. */
size_t after(size_t i);

/** The previous one, in the same way. */
size_t before(size_t i);

/** Whether token i is this text, and no literal. */
bool is(size_t i, const char *text);

/** Whether token i is of this kind. */
bool is_kind(size_t i, TokenKind kind);

/** Whether token i is one of the words, which end with NULL. */
bool is_one_of(size_t i, const char *const *words);

/** Whether token i is one of these single characters. */
bool is_mark_of(size_t i, const char *marks);

/** The closing bracket of the opening one at i, or NONE. Angles count if the group begins with one,
 *  outside of other brackets. */
size_t closing(size_t i);

/** The opening bracket of the closing one at i, or NONE. */
size_t opening(size_t i);

/** Appends the tokens [from, to), each gap between them as one blank. */
void append_tokens(Text *text, size_t from, size_t to);

/** Appends the tokens [from, to) as a string literal. */
void append_quoted(Text *text, size_t from, size_t to);

/** The text that will replace token i. */
void replace(size_t i, const char *text);

/** Adds text before token i, or before what stands in its place by now. */
void insert_before(size_t i, const char *text);

/** { body } becomes { text { body }}, so that the body may have the names for something else. A
 *  body that does not end stays as it is. */
void begin_body(size_t open, const char *text);

/** At a line marker: whether what follows stands in a header of the system. Else as it was. */
void note_system_header(size_t i, bool *system);

/** At a line marker: whether what follows is the program's own, in no header of the system or the
 *  simulator. Else as it was. */
void note_own_file(size_t i, bool *own);

/** Whether two tokens are the same word. */
bool are_same(size_t a, size_t b);

/** Says what is wrong at token i, with its file and line; the program will fail. */
void error_at(size_t i, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
