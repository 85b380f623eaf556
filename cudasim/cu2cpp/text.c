#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *grow(void *old, size_t bytes) {
    void *p = realloc(old, bytes);
    if (p == NULL) {
        fprintf(stderr, "cu2cpp: out of memory\n");
        exit(1);
    }
    return p;
}

void append(Text *to, const char *text, size_t length) {
    if (to->length + length + 1 > to->capacity) {
        to->capacity = 2 * (to->length + length + 1);
        to->text = grow(to->text, to->capacity);
    }
    if (length > 0) {
        memcpy(to->text + to->length, text, length);
    }
    to->length += length;
    to->text[to->length] = '\0';
}

void append_text(Text *to, const char *text) {
    append(to, text, strlen(text));
}
