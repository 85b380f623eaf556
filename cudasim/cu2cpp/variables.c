#include <stdlib.h>

#include "declaration.h"
#include "rewrite.h"
#include "scope.h"
#include "tokens.h"

/* A __device__ or __constant__ variable stays what it is, and a record says where it lies: each
   device has a copy of its own. */

static bool is_simple(const Declaration *declaration) {
    static const char *const others[] = {"template", "typedef", "using", "__managed__", NULL};
    for (size_t i = declaration->begin; i != declaration->end; i = after(i)) {
        if (is_one_of(i, others)) {
            return false;
        }
    }
    return !declaration->dynamic;
}

/* x, x[3], *x = y: not S::x, which a class has declared, nor x of T x(y). */
static bool is_plain(size_t name) {
    return name != NONE && is_mark_of(after(name), ";,=[{") && !is(before(name), "::");
}

static void append_records(Text *out, const Declaration *declaration) {
    for (size_t i = declaration->declarators; i < declaration->end;) {
        size_t end = declarator_end(declaration, i);
        size_t name = declared_name(i, end);
        if (is_plain(name)) {
            append_with_name(out,
                             " static cudasim_variable cudasim_@_record __attribute__((section("
                             "\"cudasim_variables\"), used, aligned(8))) = "
                             "{(void *)&@, sizeof @, \"@\"};",
                             name);
        }
        i = end < declaration->end ? after(end) : end;
    }
}

void record_variable(size_t i) {
    Declaration declaration = {.begin = statement_begin(i), .end = semicolon_after(i)};
    if (declaration.end != NONE && !in_function(i) && read_declaration(&declaration) &&
        is_simple(&declaration)) {
        Text out = {0};
        append_text(&out, ";");
        append_records(&out, &declaration);
        replace(declaration.end, out.text);
        free(out.text);
    }
    free(declaration.alignment.text);
    free(declaration.type.text);
}
