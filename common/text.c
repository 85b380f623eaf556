/* Text from outside: made safe to print, and hashed. The contract is in text.h. */
#include "common/text.h"

#include <stdbool.h>
#include <string.h>

void text_plain(char *text, size_t length, const char *keep) {
    for (size_t i = 0; i < length; i++) {
        bool printable = text[i] >= ' ' && text[i] <= '~';
        if (!printable && memchr(keep, text[i], strlen(keep)) == NULL) {
            text[i] = '?';
        }
    }
}

uint64_t hash_text(const char *text) {
    uint64_t hash = HASH_BEGIN;
    for (; *text != '\0'; text++) {
        hash = hash_add(hash, (unsigned char)*text);
    }
    return hash;
}
