#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"
#include "rewrite.h"
#include "scope.h"
#include "tokens.h"

/* ---- whose function is it? ------------------------------------------------------------------- */

static const char **kernels; /* their names, [0, kernel_count) */
static size_t kernel_count;
static size_t body_end; /* of the function of the device that was met last */

static char *text_of(size_t i) {
    Text text = {0};
    append(&text, tokens[i].text, tokens[i].length);
    return text.text;
}

static bool is_kernel(size_t i) {
    for (size_t k = 0; is_kind(i, WORD) && k < kernel_count; k++) {
        if (is(i, kernels[k])) {
            return true;
        }
    }
    return false;
}

static void note_kernel(size_t parameters) {
    size_t name = before(parameters);
    if (is(name, ">")) { /* a specialisation */
        size_t open = opening(name);
        name = open != NONE ? before(open) : NONE;
    }
    if (is_kind(name, WORD) && !is_kernel(name)) {
        kernels = realloc(kernels, (kernel_count + 1) * sizeof *kernels);
        if (kernels == NULL) {
            perror("cu2cpp");
            exit(1);
        }
        kernels[kernel_count++] = text_of(name);
    }
}

/* A function of both sides may launch on the host's. */
static bool is_for_host(size_t i, size_t parameters) {
    for (size_t k = i; k != parameters; k = after(k)) {
        if (is(k, HOST_WORD)) {
            return true;
        }
    }
    for (size_t k = before(i); k != NONE && !is_mark_of(k, ";{}"); k = before(k)) {
        if (is(k, HOST_WORD)) {
            return true;
        }
    }
    return false;
}

static void note_body(size_t i, size_t parameters) {
    size_t open = body_of(parameters), end = open != NONE ? closing(open) : NONE;
    if (end != NONE && !is_for_host(i, parameters)) {
        body_end = end;
    }
}

static Text both; /* records of functions that the host and the device have */
static int both_count;

/* A lambda has no name of its own. */
static void record_of_both(size_t parameters) {
    size_t name = before(parameters);
    char number[32];
    snprintf(number, sizeof number, "%d", both_count++);
    append_text(&both, " static const char *const cudasim_of_both_");
    append_text(&both, number);
    append_text(&both, " __attribute__((section(\"cudasim_of_both\"), used)) = \"");
    if (is_kind(name, WORD) && !is(name, DEVICE_WORD) && !is(name, HOST_WORD)) {
        append(&both, tokens[name].text, tokens[name].length);
    } else {
        append_text(&both, "operator()");
    }
    append_text(&both, "\";");
}

const char *records_of_both(void) {
    return both.text != NULL ? both.text : "";
}

static bool ends_statement(size_t i) {
    return i == NONE || is_mark_of(i, ";{}");
}

/* Whether __launch_bounds__ stands before the body of the kernel with __global__ at i. */
static bool has_bounds(size_t i, size_t body) {
    while (!ends_statement(before(i))) {
        i = before(i);
    }
    while (i != body && !is(i, BOUNDS_WORD)) {
        i = after(i);
    }
    return i != body;
}

static void record_without_bounds(size_t i, size_t parameters) {
    size_t body = body_of(parameters);
    if (body != NONE && !has_bounds(i, body)) {
        begin_body(body, "cudasim_kernel_begins<0>();");
    }
}

bool rewrite_side(size_t i, bool plain) {
    bool kernel = is(i, KERNEL_WORD);
    if (!kernel && !is(i, DEVICE_WORD) && !is(i, HOST_WORD)) {
        return false;
    }
    size_t parameters = parameters_of(i);
    if (parameters != NONE && kernel) {
        note_kernel(parameters);
        if (!plain) {
            record_without_bounds(i, parameters);
        }
    }
    if (parameters != NONE && !is(i, HOST_WORD)) {
        note_body(i, parameters);
    }
    if (parameters == NONE && is(i, DEVICE_WORD) && !plain) {
        record_variable(i);
    }
    if (parameters != NONE && is(i, DEVICE_WORD) && !plain && is_for_host(i, parameters)) {
        record_of_both(parameters);
    }
    replace(i, kernel ? "__attribute__((noinline))" : "");
    return true;
}

/* The comma or parenthesis after the first argument. */
static size_t first_argument_end(size_t open) {
    size_t i = after(open);
    while (i != NONE && !is_mark_of(i, ",)")) {
        i = after(is_mark_of(i, "([{") ? closing(i) : i);
    }
    return i;
}

/* How a kernel begins whose most threads stand in [from, to). */
static void begin_with_bounds(size_t body, size_t from, size_t to, bool plain) {
    Text call = {0};
    if (!plain) {
        append_text(&call, "cudasim_kernel_begins<(unsigned)(");
        append_tokens(&call, from, to);
        append_text(&call, ")>(); ");
    }
    append_text(&call, "cudasim_bounds((unsigned)(");
    append_tokens(&call, from, to);
    append_text(&call, "));");
    begin_body(body, call.text);
    free(call.text);
}

bool rewrite_launch_bounds(size_t i, bool plain) {
    size_t open = after(i), close = is(i, BOUNDS_WORD) && is(open, "(") ? closing(open) : NONE;
    if (close == NONE) {
        return false;
    }
    size_t parameters = parameters_of(after(close));
    size_t body = parameters != NONE ? body_of(parameters) : NONE;
    if (body != NONE) {
        begin_with_bounds(body, after(open), first_argument_end(open), plain);
    }
    for (size_t k = i; k <= close; k = after(k)) {
        replace(k, "");
    }
    return true;
}

/* ---- plain functions of the host ------------------------------------------------------------- */

/* In check mode calls are joined for the sake of kernels (cudasim.mk). Of what the host does with
   strings and streams that makes code which a compiler needs a minute for. */

static bool is_host_header(size_t i, size_t brace) {
    static const char *const others[] = {KERNEL_WORD, DEVICE_WORD,  "template",  "inline",
                                         "__inline",  "__inline__", "constexpr", "operator",
                                         "catch",     NULL};
    for (; i != brace; i = after(i)) {
        if (is_one_of(i, others) || is_kind(i, LITERAL) || is_mark_of(i, "=[")) {
            return false;
        }
        if (is(i, "(")) {
            i = closing(i);
        }
    }
    return true;
}

/* The first token after `public:` in a class. */
static size_t after_access(size_t i) {
    static const char *const access[] = {"public", "protected", "private", NULL};
    while (is_one_of(i, access) && is(after(i), ":")) {
        i = after(after(i));
    }
    return i;
}

bool mark_host(size_t i) {
    if (!opens_body(i) || in_body(i)) {
        return false;
    }
    size_t header = after_access(header_begin(i));
    bool is_host = is_host_header(header, i);
    if (is_host) {
        insert_before(header, "__attribute__((cold)) ");
    }
    return is_host;
}

/* ---- what a kernel cannot do ----------------------------------------------------------------- */

bool in_device_code(size_t i) {
    return i < body_end;
}

void refuse_host_call(size_t i) {
    static const char *const calls[] = {"cudasim_malloc",
                                        "cudasim_free",
                                        "cudasim_memcpy",
                                        "cudasim_memcpy_fits",
                                        "cudasim_memcpy_async",
                                        "cudasim_memcpy_async_fits",
                                        "cudasim_memset",
                                        "cudasim_memset_async",
                                        "cudasim_stream_create",
                                        "cudasim_stream_destroy",
                                        "cudasim_event_create",
                                        "cudasim_event_record",
                                        "cudasim_launch_kernel",
                                        "cudasim_device_synchronize",
                                        "cudasim_graph_launch",
                                        "cudasim_stream_wait_event",
                                        NULL};
    if (in_device_code(i) && is_one_of(i, calls)) {
        error_at(i, "unsupported: dynamic parallelism: a kernel calls the CUDA runtime. Let the "
                    "host do it");
    }
}

/* ---- the address of a kernel ----------------------------------------------------------------- */

/* The last token of a kernel's name that begins at i, as &ns::k<T>; NONE if it is none. */
static size_t kernel_name_end(size_t i) {
    i = is(i, "&") ? after(i) : i;
    i = is(i, "::") ? after(i) : i;
    while (is_kind(i, WORD) && is(after(i), "::")) {
        i = after(after(i));
    }
    if (!is_kernel(i)) {
        return NONE;
    }
    return is(after(i), "<") ? closing(after(i)) : i;
}

/* The last token of `void *` or `const void *` at i, or NONE. */
static size_t pointer_type_end(size_t i) {
    i = is(i, "const") ? after(i) : i;
    size_t star = is(i, "void") ? after(i) : NONE;
    return is(star, "*") ? star : NONE;
}

static void replace_cast(size_t from, size_t to, size_t name, size_t end) {
    Text call = {0};
    append_text(&call, "cudasim_kernel_address(");
    append_quoted(&call, name, after(end));
    append_text(&call, ", ");
    for (size_t k = from; k != to; k = after(k)) {
        replace(k, k == from ? call.text : "");
    }
    replace(to, to == from ? call.text : "");
    free(call.text);
}

void rewrite_cast(size_t i) {
    bool by_name = is(i, "reinterpret_cast");
    size_t open = by_name ? after(i) : i;
    if (tokens[i].instead != NULL || !(is(open, "(") || (by_name && is(open, "<")))) {
        return;
    }
    size_t star = pointer_type_end(after(open));
    size_t close = star != NONE ? after(star) : NONE;
    if (!is(close, by_name ? ">" : ")")) {
        return;
    }
    size_t name = after(close);
    if (by_name) {
        close = name;
        name = is(name, "(") ? after(name) : NONE;
    }
    size_t end = name != NONE ? kernel_name_end(name) : NONE;
    if (end == NONE || is(after(end), "(")) {
        return;
    }
    replace_cast(i, close, name, end);
    if (!by_name) {
        char *last = text_of(end);
        Text text = {0};
        append_text(&text, last);
        append_text(&text, ")");
        replace(end, text.text);
        free(last);
        free(text.text);
    }
}
