#include <stdlib.h>
#include <string.h>

#include "declaration.h"
#include "rewrite.h"
#include "scope.h"
#include "tokens.h"

#define HERE "__builtin_FILE(), __builtin_LINE()"
#define UNUSED "__attribute__((unused)) "
#define RECORD UNUSED "= {\"@\", " HERE

/* A variable in a file stays there, as a record. Functions that use it begin with a reference to
   the variable of the block that runs. */

/* T x[][8] becomes a pointer to T[8]. */
static bool declare_dynamic(Text *record, Text *out, const Declaration *shared, size_t name,
                            size_t end, size_t begin) {
    if (name == NONE || !is(after(name), "[")) {
        error_at(shared->begin, "an extern __shared__ variable must be an array: float x[]");
        return false;
    }
    size_t dimensions = after(closing(after(name)));
    append_with_name(out, shared->in_file ? UNUSED "auto @ = (" : "auto @ = (", name);
    append_text(out, shared->type.text);
    append_tokens(out, begin, name);
    append_text(out, dimensions < end ? "(*)" : "*");
    append_tokens(out, dimensions, end);
    if (shared->in_file) {
        append_with_name(record, "static const cudasim_shared_array cudasim_@_record " RECORD,
                         name);
        append_text(record, "}; ");
        append_with_name(out, ")cudasim_file_dynamic(&cudasim_@_record); ", name);
    } else {
        append_with_name(out, ")cudasim_dynamic_shared(\"@\", " HERE "); ", name);
    }
    return true;
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
static bool declare_static(Text *record, Text *out, const Declaration *shared, size_t name,
                           size_t end, size_t begin) {
    if (name == NONE) {
        error_at(shared->begin, "this __shared__ declaration has no name");
        return false;
    }
    if (is_initialised(name, end)) {
        error_at(name, "a __shared__ variable cannot be initialised: let a thread write it");
        return false;
    }
    append_with_name(record, "struct cudasim_@ { ", name);
    append(record, shared->alignment.text, shared->alignment.length);
    append_text(record, shared->type.text);
    append_tokens(record, begin, end);
    append_with_name(record, "; }; static cudasim_shared_variable cudasim_@_record ", name);
    append_with_name(record, shared->in_file ? RECORD : "= {\"@\", " HERE, name);
    append_with_name(record, ", sizeof(cudasim_@::@), alignof(cudasim_@), 0}; ", name);
    append_with_name(out,
                     shared->in_file ? UNUSED "auto &@ = ((cudasim_@ *)cudasim_file_shared"
                                     : "auto &@ = ((cudasim_@ *)cudasim_static_shared",
                     name);
    append_with_name(out, "(&cudasim_@_record))->@; ", name);
    return true;
}

/* ---- in a file ------------------------------------------------------------------------------- */

static bool is_name(size_t i, size_t name) {
    size_t previous = before(i);
    return is_kind(i, WORD) && tokens[i].length == tokens[name].length &&
           strncmp(tokens[i].text, tokens[name].text, tokens[name].length) == 0 &&
           !is(previous, ".") && !is(previous, "->") && !is(previous, "::");
}

static bool is_named(size_t from, size_t to, size_t name) {
    for (; from != NONE && from < to; from = after(from)) {
        if (is_name(from, name)) {
            return true;
        }
    }
    return false;
}

/* Functions that use the name, and have no parameter of that name. */
static void insert_where_used(size_t name, size_t i, const char *text) {
    size_t end = enclosing_end(i);
    for (i = next_body(i, end); i != NONE; i = next_body(closing(i), end)) {
        if (is_named(i, closing(i), name) && !is_named(header_begin(i), i, name)) {
            begin_body(i, text);
        }
    }
}

/* extern may declare an array again. */
static bool is_declared_before(const Declaration *shared, size_t name) {
    size_t end = enclosing_end(shared->begin);
    for (size_t i = 0; i < shared->begin; i++) {
        if (is(i, "__shared__") && !in_function(i) && enclosing_end(i) == end &&
            is_named(i, semicolon_after(i), name)) {
            return true;
        }
    }
    return false;
}

/* ---- the declaration ------------------------------------------------------------------------- */

/* One declarator; `out` is what stands in the place of the declaration. */
static bool declare(Text *out, const Declaration *shared, size_t begin, size_t end) {
    Text record = {0}, reference = {0};
    size_t name = declared_name(begin, end);
    append_text(&record, "");
    bool good = (shared->dynamic ? declare_dynamic : declare_static)(&record, &reference, shared,
                                                                     name, end, begin);
    bool again = good && shared->in_file && shared->dynamic && is_declared_before(shared, name);
    if (good && !again) {
        append_text(out, record.text);
    }
    if (good && !again && shared->in_file) {
        insert_where_used(name, shared->end, reference.text);
    } else if (good && !again) {
        append_text(out, reference.text);
    }
    free(record.text);
    free(reference.text);
    return good;
}

/* Everything that is declared, in the place of the first token. */
static void rewrite_declarators(const Declaration *shared) {
    Text out = {0};
    append_text(&out, "");
    for (size_t i = shared->declarators; i < shared->end;) {
        size_t end = declarator_end(shared, i);
        if (!declare(&out, shared, i, end)) {
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

void rewrite_shared(size_t i, bool plain) {
    Declaration shared = {.begin = statement_begin(i), .end = semicolon_after(i)};
    shared.in_file = !in_function(i);
    if (shared.in_file && plain) {
        error_at(i, "a __shared__ variable outside of a function: declare it in the kernel");
    } else if (shared.end == NONE || !read_declaration(&shared)) {
        error_at(i, "cannot read this __shared__ declaration");
    } else {
        rewrite_declarators(&shared);
    }
    free(shared.alignment.text);
    free(shared.type.text);
}
