#include "function.h"

#include "tokens.h"

size_t parameters_of(size_t i) {
    static const char *const attributes[] = {"__attribute__", "alignas", "decltype", BOUNDS_WORD,
                                             NULL};
    for (; i != NONE && !is_mark_of(i, ";={}"); i = after(i)) {
        if (is(i, "(") && !is_one_of(before(i), attributes)) {
            return i;
        }
        if (is(i, "(")) {
            i = closing(i);
        }
    }
    return NONE;
}

size_t body_of(size_t parameters) {
    size_t k = closing(parameters);
    while (k != NONE && !is_mark_of(k, ";={}")) {
        k = after(k);
        k = is(k, "(") ? closing(k) : k; /* operator()(int x = 1), noexcept(...) */
    }
    return is(k, "{") ? k : NONE;
}
