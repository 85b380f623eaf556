#include "declaration.h"

#include "scope.h"
#include "tokens.h"

/* Words with a group in parentheses that is not a declarator. */
static const char *const alignment_words[] = {"alignas", "__align__", "__attribute__", NULL};
static const char *const type_of_words[] = {"decltype", "typeof", "__typeof__", NULL};
static const char *const storage_words[] = {
    "extern",         "static",    "__shared__", "__constant__",
    "cudasim_device", "constexpr", "inline",     NULL};
static const char *const tag_words[] = {"struct", "class", "union", "enum", NULL};
static const char *const qualifiers[] = {"const", "volatile", "__restrict__", NULL};

/* Whether the word at i is the name that is declared, to judge by what follows it. */
static bool is_declared_name(size_t i) {
    size_t next = after(i);
    if (is(next, "(")) {
        /* The pointer of T (*x)[4] comes later. */
        return !is_mark_of(after(next), "*&");
    }
    if (is(next, "{")) {
        return !is_one_of(i, tag_words) && !is_one_of(before(i), tag_words);
    }
    return is_mark_of(next, "[,;=)");
}

bool read_declaration(Declaration *declaration) {
    size_t i = declaration->begin;
    while (i != NONE && i < declaration->end && !is_mark_of(i, "*&(")) {
        size_t last = i;
        Text *to = &declaration->type;
        if (is_one_of(i, storage_words)) {
            declaration->dynamic = declaration->dynamic || is(i, "extern");
            to = NULL;
        } else if (is_one_of(i, alignment_words)) {
            last = closing(after(i));
            to = &declaration->alignment;
        } else if (is_one_of(i, type_of_words)) {
            last = closing(after(i));
        } else if (is_mark_of(i, "<{[")) {
            last = closing(i);
        } else if (is_kind(i, WORD) && is_declared_name(i)) {
            break;
        }
        if (last == NONE) {
            return false;
        }
        if (to != NULL) {
            append_tokens(to, i, last + 1);
            append_text(to, " ");
        }
        i = after(last);
    }
    declaration->declarators = i;
    return i != NONE && i < declaration->end && declaration->type.length > 0;
}

size_t declarator_end(const Declaration *declaration, size_t i) {
    while (i != NONE && i < declaration->end && !is(i, ",")) {
        i = is_mark_of(i, "([{") ? closing(i) : i;
        i = i != NONE ? after(i) : NONE;
    }
    return i != NONE && i < declaration->end ? i : declaration->end;
}

size_t declared_name(size_t i, size_t end) {
    while (i != NONE && i < end && (!is_kind(i, WORD) || is_one_of(i, qualifiers))) {
        i = after(i);
    }
    return i != NONE && i < end ? i : NONE;
}

void append_with_name(Text *out, const char *text, size_t name) {
    for (; *text != '\0'; text++) {
        if (*text == '@') {
            append(out, tokens[name].text, tokens[name].length);
        } else {
            append(out, text, 1);
        }
    }
}
