#include "scope.h"

#include "tokens.h"

/* Words with a group in parentheses that is not a declarator. */
static const char *const alignment_words[] = {"alignas", "__align__", "__attribute__", NULL};

size_t statement_begin(size_t i) {
    for (size_t previous = before(i); previous != NONE; previous = before(i)) {
        if (is_mark_of(previous, ";{}:")) {
            break;
        }
        if (is(previous, ")")) {
            previous = opening(previous);
            if (previous == NONE || !is_one_of(before(previous), alignment_words)) {
                break;
            }
        }
        i = previous;
    }
    return i;
}

size_t semicolon_after(size_t i) {
    while (i != NONE && !is(i, ";")) {
        i = is_mark_of(i, "([{") ? closing(i) : i;
        i = i != NONE ? after(i) : NONE;
    }
    return i;
}

bool opens_namespace(size_t brace) {
    size_t i = before(brace);
    if (is_kind(i, LITERAL)) {
        return is(before(i), "extern");
    }
    while (is_kind(i, WORD) || is(i, "::")) {
        if (is(i, "namespace")) {
            return true;
        }
        i = before(i);
    }
    return false;
}

bool in_function(size_t i) {
    int closed = 0;
    for (i = before(i); i != NONE; i = before(i)) {
        closed += is(i, "}");
        if (is(i, "{") && closed-- == 0) {
            closed = 0;
            if (!opens_namespace(i)) {
                return true;
            }
        }
    }
    return false;
}

/* The { of the namespace that token i is in; NONE outside of all. */
static size_t enclosing(size_t i) {
    int closed = 0;
    for (i = before(i); i != NONE; i = before(i)) {
        closed += is(i, "}");
        if (is(i, "{") && closed-- == 0) {
            return i;
        }
    }
    return NONE;
}

size_t enclosing_end(size_t i) {
    size_t brace = enclosing(i);
    return brace != NONE ? closing(brace) : NONE;
}

static bool has_word(size_t from, size_t to, const char *const *words) {
    while (from < to && !is_one_of(from, words)) {
        from++;
    }
    return from < to;
}

size_t header_begin(size_t brace) {
    size_t i = brace;
    for (size_t previous = before(i); previous != NONE && !is_mark_of(previous, ";{");
         previous = before(i)) {
        if (is(previous, "}")) {
            previous =
                is_mark_of(i, ",)") ? opening(previous) : NONE; /* of a default, or a member */
            if (previous == NONE) {
                break;
            }
        }
        i = previous;
    }
    return i;
}

bool opens_body(size_t brace) {
    static const char *const trailing[] = {"const", "noexcept", "override", "final", "&", NULL};
    static const char *const arrow[] = {"->", NULL};
    size_t i = before(brace);
    while (is_one_of(i, trailing)) {
        i = before(i);
    }
    return is(i, ")") ||
           ((is_kind(i, WORD) || is_mark_of(i, ">*&")) && has_word(header_begin(brace), i, arrow));
}

static bool opens_class(size_t brace) {
    static const char *const words[] = {"class", "struct", "union", NULL};
    return has_word(header_begin(brace), brace, words);
}

bool in_body(size_t i) {
    for (i = enclosing(i); i != NONE; i = enclosing(i)) {
        bool is_class = opens_class(i) && !opens_body(i); /* not template <class T> void f() { */
        if (!opens_namespace(i) && !is_class) {
            return true;
        }
    }
    return false;
}

size_t next_body(size_t i, size_t end) {
    for (i = after(i); i != NONE && (end == NONE || i < end); i = after(i)) {
        if (!is(i, "{")) {
            continue;
        }
        size_t close = closing(i);
        if (close == NONE || opens_body(i)) {
            return close != NONE ? i : NONE;
        }
        if (!opens_namespace(i) && !opens_class(i)) {
            i = close;
        }
    }
    return NONE;
}
