#include <stdlib.h>

#include "rewrite.h"
#include "tokens.h"

/* Words after which an expression or a statement begins. */
static const char *const keywords[] = {"return", "else", "do", "try", NULL};

/* Whether the parenthesis that ends at i belongs to if, for or the like: a statement follows. */
static bool ends_condition(size_t i) {
    static const char *const words[] = {"if", "for", "while", "constexpr", "switch", "catch", NULL};
    size_t open = is(i, ")") ? opening(i) : NONE;
    return open != NONE && is_one_of(before(open), words);
}

/* Whether the token at i ends something that can be called, indexed, or made by a brace. */
static bool ends_value(size_t i) {
    return (is_kind(i, WORD) && !is_one_of(i, keywords)) ||
           (is_mark_of(i, ">])") && !ends_condition(i));
}

/* Whether the brace that ends at i is the body of a lambda, or makes an object: no block. */
static bool ends_value_in_braces(size_t i) {
    size_t open = is(i, "}") ? opening(i) : NONE;
    return open != NONE && ends_value(before(open));
}

/* Whether what stands in the brackets that open at i goes on with what is before them. */
static bool is_suffix(size_t i) {
    return ends_value(before(i)) || (is_mark_of(i, "([") && ends_value_in_braces(before(i)));
}

/* The part of a postfix expression that ends at i: a name, or brackets. NONE if there is none. */
static size_t part_begin(size_t i) {
    if (!ends_value(i) && !ends_value_in_braces(i)) {
        return NONE;
    }
    return is_kind(i, WORD) ? i : opening(i);
}

/* The first token of the kernel's name that ends before the <<< at i: a postfix expression as
   ns::k<T>, s->k, table[2], (*k), f<3>() or a lambda that is called. NONE if there is none. */
static size_t callee_begin(size_t i) {
    static const char *const joints[] = {"::", ".", "->", NULL};
    static const char *const of_lambda[] = {"mutable", "noexcept", NULL};
    size_t begin = NONE;
    for (size_t last = before(i); last != NONE; last = before(begin)) {
        size_t part = part_begin(last);
        if (part == NONE) {
            return begin;
        }
        begin = part;
        bool goes_on = is_kind(part, WORD) ? is_one_of(part, of_lambda) : is_suffix(part);
        if (!goes_on && is_one_of(before(begin), joints)) {
            begin = before(begin);
        } else if (!goes_on) {
            return begin;
        }
    }
    return begin;
}

/* The third > of the >>> that ends the <<< at i, or NONE. nvcc takes >> > as well. */
static size_t launch_end(size_t i) {
    for (i = after(i); i != NONE && !is(i, ";") && !is_mark_of(i, ")]}"); i = after(i)) {
        if (is_mark_of(i, "([{")) {
            i = closing(i);
            if (i == NONE) {
                return NONE;
            }
        }
        /* Of >>>> the first ends template arguments. */
        size_t third = is(i, ">") && is(i + 1, ">") ? after(i + 1) : NONE;
        if (is(third, ">") && !is(after(third), ">")) {
            return third;
        }
    }
    return NONE;
}

/* The comma after the argument at i, or NONE. */
static size_t next_argument(size_t i) {
    while (i != NONE && !is(i, ",")) {
        i = is_mark_of(i, "([{") ? closing(i) : i;
        i = i != NONE ? after(i) : NONE;
    }
    return i != NONE ? after(i) : NONE;
}

void rewrite_launch_call(size_t i) {
    enum { BEFORE_KERNEL = 4 };
    size_t argument = after(i);
    if (!is(argument, "(")) {
        return; /* its declaration */
    }
    argument = after(argument);
    for (int k = 0; k < BEFORE_KERNEL && argument != NONE; k++) {
        argument = next_argument(argument);
    }
    size_t type = is(argument, "(") ? after(argument) : NONE;
    type = is(type, "const") ? after(type) : type;
    if (is(type, "void") && is(after(type), "*") && is(after(after(type)), ")")) {
        size_t end = closing(argument);
        for (size_t k = argument; k <= end; k = after(k)) {
            replace(k, "");
        }
    }
}

size_t launch_opening(size_t i) {
    if (is(before(i), "operator")) {
        return NONE;
    }
    if (is(i, "<<<")) {
        return i;
    }
    size_t third = is(i, "<") && is(i + 1, "<") ? after(i + 1) : NONE;
    return is(third, "<") && third > i + 2 ? third : NONE;
}

/* Three lambdas: the kernel, if the name stands for one; that of several which is of a type; and a
   call of it with any arguments, where the compiler says what is wrong with them. All are
   templates, so that only one has to make sense. */
static void append_kernel(Text *call, size_t begin, size_t end) {
    append_text(call, "[&](auto cudasim_get) -> decltype(cudasim_get(");
    append_tokens(call, begin, end);
    append_text(call, ")) { return cudasim_get(");
    append_tokens(call, begin, end);
    append_text(call, "); }, [&](auto cudasim_k) -> decltype(static_cast<decltype(cudasim_k)>(");
    append_tokens(call, begin, end);
    append_text(call, ")) { return static_cast<decltype(cudasim_k)>(");
    append_tokens(call, begin, end);
    append_text(call, "); }, [&](auto... cudasim_a) { ");
    append_tokens(call, begin, end);
    append_text(call, "(cudasim_a...); }");
}

static void replace_callee(size_t begin, size_t end, bool plain) {
    Text call = {0};
    append_text(&call, plain ? "cudasim_launch(" : "cudasim_launch_named(");
    append_text(&call, "__builtin_FILE(), __builtin_LINE(), ");
    append_quoted(&call, begin, end);
    append_text(&call, ", ");
    if (plain) {
        append(&call, tokens[begin].text, tokens[begin].length);
    } else {
        append_kernel(&call, begin, end);
        for (size_t k = after(begin); k != NONE && k < end; k = after(k)) {
            replace(k, "");
        }
    }
    replace(begin, call.text);
    free(call.text);
}

/* A lambda cannot stand where its type alone is asked for, as a name does in append_kernel(). */
static bool has_lambda(size_t begin, size_t end) {
    for (size_t k = begin; k != NONE && k < end; k = after(k)) {
        if (is(k, "{")) {
            return true;
        }
    }
    return false;
}

void rewrite_launch(size_t i, size_t open, bool plain) {
    size_t begin = callee_begin(i), end = launch_end(open);
    if (begin == NONE) {
        error_at(i, "there is no kernel name before <<<");
        return;
    }
    if (end == NONE) {
        error_at(i, "<<< without >>>");
        return;
    }
    size_t commas = 0;
    for (size_t k = i; k < end; k++) {
        commas += is(k, ",");
    }
    if (commas == 0) {
        error_at(i, "a launch needs the grid and the block: <<<grid, block>>>");
        return;
    }
    if (!is(after(end), "(")) {
        error_at(end, "the kernel's arguments must follow in parentheses after >>>");
        return;
    }
    replace_callee(begin, i, plain || has_lambda(begin, i));
    for (size_t k = i; k <= open; k = after(k)) {
        replace(k, k == i ? ", " : "");
    }
    replace(end, ")");
    replace(before(end), "");
    replace(before(before(end)), "");
}
