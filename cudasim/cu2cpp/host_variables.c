#include <stdlib.h>

#include "declaration.h"
#include "rewrite.h"
#include "scope.h"
#include "tokens.h"

/* A variable of a file that no word gives to the device is the host's, and nvcc refuses a kernel
   that names it. To a compiler for the host it is any variable: a record says where it lies. */

/* Statements that begin with none of these, and have none of them before the first value, declare
   variables, if they declare any. A const may be a number that kernels may name. */
static bool is_other(size_t i) {
    static const char *const words[] = {
        "__device__",    "cudasim_device", "__constant__", "__managed__", "__shared__",
        "__global__",    "__host__",       "const",        "constexpr",   "extern",
        "typedef",       "using",          "template",     "friend",      "namespace",
        "class",         "struct",         "union",        "enum",        "thread_local",
        "_Thread_local", "__thread",       "operator",     "concept",     NULL};
    return is_one_of(i, words) || is_mark_of(i, "(&:");
}

/* Whether tokens [i, end) and the one at `end` can declare no function, as `F f;` does where F is
   the type of one. */
static bool is_no_function(size_t i, size_t end) {
    static const char *const words[] = {"char",   "short",    "int",    "long", "float",
                                        "double", "unsigned", "signed", "bool", "size_t",
                                        "dim3",   "*",        ">",      NULL};
    while (i < end && !is_one_of(i, words)) {
        i = after(i);
    }
    return i < end || is_mark_of(end, "={[");
}

/* Whether a declaration of variables of the host begins at i. A reference is an address that
   kernels may be given. */
static bool declares_variables(size_t i) {
    size_t begin = i;
    int words = 0;
    while (i != NONE && !is_mark_of(i, ";={[,")) {
        bool group = is(i, "<");
        if (is_other(i) || !(group || is_kind(i, WORD) || is(i, "::") || is(i, "*"))) {
            return false;
        }
        words += is_kind(i, WORD);
        i = group ? closing(i) : i;
        i = i != NONE ? after(i) : NONE;
    }
    return i != NONE && words >= 2 && is_no_function(begin, i);
}

static void append_record(Text *out, size_t name) {
    append_with_name(out,
                     " static cudasim_host_variable cudasim_@_host __attribute__((section("
                     "\"cudasim_host_variables\"), used, aligned(8))) = {(void *)&@, sizeof @, "
                     "\"@\"};",
                     name);
}

/* @return the end of the statement that begins at i, if it declares variables of the host, which
   then have records; else i */
static size_t record_statement(size_t i) {
    Declaration declaration = {.begin = i, .end = semicolon_after(i)};
    if (!declares_variables(i) || declaration.end == NONE || !read_declaration(&declaration)) {
        return i;
    }
    Text out = {0};
    append_text(&out, ";");
    for (size_t d = declaration.declarators; d < declaration.end;) {
        size_t end = declarator_end(&declaration, d);
        size_t name = declared_name(d, end);
        if (name != NONE && is_mark_of(after(name), ";,=[{") && !is(before(name), "::")) {
            append_record(&out, name);
        }
        d = end < declaration.end ? after(end) : end;
    }
    replace(declaration.end, out.text);
    free(out.text);
    free(declaration.alignment.text);
    free(declaration.type.text);
    return declaration.end;
}

void record_host_variables(void) {
    bool own = true, begins = true,
         known = false; /* the simulator's headers: its type of a record */
    for (size_t i = 0; i < token_count; i++) {
        note_own_file(i, &own);
        if (is_kind(i, SPACE) || is_kind(i, DIRECTIVE)) {
            continue;
        }
        known = known || is(i, "cudasim_host_variable");
        if (known && own && begins && is_kind(i, WORD)) {
            i = record_statement(i);
        }
        begins = is_mark_of(i, ";{}");
        if (is(i, "{") && !opens_namespace(i)) {
            i = closing(i);
            if (i == NONE) {
                return;
            }
        }
    }
}
