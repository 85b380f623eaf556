/* Text from outside: made safe to print, and hashed. The contract is in text.h. */
#include "common/text.h"

#include <ctype.h>
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

void text_nan(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        const char *word = from + (*from == '-');
        bool begins = from == text || !isalnum((unsigned char)from[-1]);
        if (begins && strncmp(word, "nan", 3) == 0 && !isalnum((unsigned char)word[3])) {
            memcpy(to, "NaN", 3);
            to += 3;
            from = word + 3;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}
