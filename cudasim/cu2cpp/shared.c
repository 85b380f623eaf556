#include <stdlib.h>

#include "rewrite.h"
#include "tokens.h"

/* Words with a group in parentheses that is not a declarator. */
static const char *const alignment_words[] = {"alignas", "__align__", "__attribute__", NULL};
static const char *const type_of_words[] = {"decltype", "typeof", "__typeof__", NULL};
static const char *const storage_words[] = {"extern", "static", "__shared__", NULL};
static const char *const tag_words[] = {"struct", "class", "union", "enum", NULL};
static const char *const qualifiers[] = {"const", "volatile", "__restrict__", NULL};

/* A declaration of shared variables, as text and as tokens. */
typedef struct Shared {
    size_t begin, end; /* its tokens; end is the ; */
    bool dynamic;      /* extern */
    Text alignment;    /* "alignas(16)" and the like */
    Text type;         /* "volatile float" */
    size_t declarators;
} Shared;

/* The first token of the statement that has token i. */
static size_t statement_begin(size_t i) {
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

static bool opens_namespace(size_t brace) {
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

/* Whether token i is inside of any braces but those of namespaces. */
static bool in_function(size_t i) {
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

/* Reads alignment and type; declarators begins after them. False if this is not a declaration. */
static bool read_type(Shared *shared) {
    size_t i = shared->begin;
    while (i != NONE && i < shared->end && !is_mark_of(i, "*&(")) {
        size_t last = i;
        Text *to = &shared->type;
        if (is_one_of(i, storage_words)) {
            shared->dynamic = shared->dynamic || is(i, "extern");
            to = NULL;
        } else if (is_one_of(i, alignment_words)) {
            last = closing(after(i));
            to = &shared->alignment;
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
    shared->declarators = i;
    return i != NONE && i < shared->end && shared->type.length > 0;
}

/* The comma or the ; that ends the declarator at i. */
static size_t declarator_end(const Shared *shared, size_t i) {
    while (i != NONE && i < shared->end && !is(i, ",")) {
        i = is_mark_of(i, "([{") ? closing(i) : i;
        i = i != NONE ? after(i) : NONE;
    }
    return i != NONE && i < shared->end ? i : shared->end;
}

static size_t declared_name(size_t i, size_t end) {
    while (i != NONE && i < end && (!is_kind(i, WORD) || is_one_of(i, qualifiers))) {
        i = after(i);
    }
    return i != NONE && i < end ? i : NONE;
}

/* T x[][8] becomes a pointer to T[8]. */
static bool declare_dynamic(Text *out, const Shared *shared, size_t begin, size_t end) {
    size_t name = declared_name(begin, end);
    if (name == NONE || !is(after(name), "[")) {
        error_at(shared->begin, "an extern __shared__ variable must be an array: float x[]");
        return false;
    }
    size_t dimensions = after(closing(after(name)));
    append_text(out, "auto ");
    append(out, tokens[name].text, tokens[name].length);
    append_text(out, " = (");
    append_text(out, shared->type.text);
    append_tokens(out, begin, name);
    append_text(out, dimensions < end ? "(*)" : "*");
    append_tokens(out, dimensions, end);
    append_text(out, ")cudasim_dynamic_shared(");
    append_quoted(out, name, name + 1);
    append_text(out, ", __builtin_FILE(), __builtin_LINE()); ");
    return true;
}

/* Writes a template in which @ stands for the declared name. */
static void append_with_name(Text *out, const char *text, size_t name) {
    for (; *text != '\0'; text++) {
        if (*text == '@') {
            append(out, tokens[name].text, tokens[name].length);
        } else {
            append(out, text, 1);
        }
    }
}

/* Whether = or { or ( follows the name or its dimensions. */
static bool is_initialised(size_t name, size_t end) {
    size_t i = after(name);
    while (i < end && is(i, "[")) {
        i = after(closing(i));
    }
    return i < end && is_mark_of(i, "={(");
}

/* The declaration itself goes into a struct, so that any type, declarator and alignment will do,
   and a size that is not a constant is refused. */
static bool declare_static(Text *out, const Shared *shared, size_t begin, size_t end) {
    size_t name = declared_name(begin, end);
    if (name == NONE) {
        error_at(shared->begin, "this __shared__ declaration has no name");
        return false;
    }
    if (is_initialised(name, end)) {
        error_at(name, "a __shared__ variable cannot be initialised: let a thread write it");
        return false;
    }
    append_with_name(out, "struct cudasim_@ { ", name);
    append(out, shared->alignment.text, shared->alignment.length);
    append_text(out, shared->type.text);
    append_tokens(out, begin, end);
    append_with_name(out,
                     "; }; static cudasim_shared_variable cudasim_@_record = {\"@\", "
                     "__builtin_FILE(), __builtin_LINE(), sizeof(cudasim_@::@), "
                     "alignof(cudasim_@), 0}; auto &@ = ((cudasim_@ *)"
                     "cudasim_static_shared(&cudasim_@_record))->@; ",
                     name);
    return true;
}

/* Everything that is declared, in the place of the first token. */
static void rewrite_declarators(const Shared *shared) {
    Text out = {0};
    for (size_t i = shared->declarators; i < shared->end;) {
        size_t end = declarator_end(shared, i);
        if (!(shared->dynamic ? declare_dynamic : declare_static)(&out, shared, i, end)) {
            free(out.text);
            return;
        }
        i = end < shared->end ? after(end) : end;
    }
    for (size_t i = shared->begin; i != NONE && i <= shared->end; i = after(i)) {
        replace(i, "");
    }
    replace(shared->begin, out.text);
    free(out.text);
}

static size_t semicolon_after(size_t i) {
    while (i != NONE && !is(i, ";")) {
        i = is_mark_of(i, "([{") ? closing(i) : i;
        i = i != NONE ? after(i) : NONE;
    }
    return i;
}

void rewrite_shared(size_t i) {
    Shared shared = {.begin = statement_begin(i), .end = semicolon_after(i)};
    if (!in_function(i)) {
        error_at(i, "a __shared__ variable outside of a function: declare it in the kernel");
    } else if (shared.end == NONE || !read_type(&shared)) {
        error_at(i, "cannot read this __shared__ declaration");
    } else {
        rewrite_declarators(&shared);
    }
    free(shared.alignment.text);
    free(shared.type.text);
}
