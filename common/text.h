/**
 * @file text.h
 * @brief Text from outside: made safe to print, and hashed.
 * @ingroup common
 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stddef.h>
#include <stdint.h>

/**
 * Replaces by `?`, in place, each byte that could be more than text to a terminal: everything but
 * printable ASCII and what `keep` names.
 *
 * @param text   bytes, a NUL among them too; no NUL at the end is needed
 * @param length number of bytes
 * @param keep   control characters that stay: "\n\t" in a text of several lines, "" in one line
 */
void text_plain(char *text, size_t length, const char *keep);

/** Writes NaN as people do, in place: "NaN", where printf() has "nan" or "-nan". */
void text_nan(char *text);

/** FNV-1a of nothing: where a hash begins. */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/** FNV-1a: the hash of what came before and then of `value`, a byte or a wider number. */
static inline uint64_t hash_add(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

/** FNV-1a of a text, without its NUL. */
uint64_t hash_text(const char *text);

#endif
