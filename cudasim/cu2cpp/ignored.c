#include "rewrite.h"
#include "tokens.h"

/* A call as a statement of its own, whose status nobody can look at. Only of such calls as nothing
   shows to have failed: memory that is not there is NULL, which a program may look at instead, and
   whose use is reported; and so is most misuse. */

static bool fails_silently(size_t i) {
    static const char *const calls[] = {"cudasim_event_record", "cudasim_event_synchronize",
                                        "cudasim_stream_wait_event", "cudasim_host_register", NULL};
    return is_one_of(i, calls);
}

/* A statement begins after one of these. A parenthesis may be that of (void), which says that the
   program has thought of it. */
static bool begins_statement(size_t i) {
    static const char *const marks[] = {";", "{", "}", "else", "do", NULL};
    static const char *const heads[] = {"if", "for", "while", NULL};
    size_t last = before(i);
    return is_one_of(last, marks) ||
           (is(last, ")") && opening(last) != NONE && is_one_of(before(opening(last)), heads));
}

/* The last statement of a ({ }) is its value. */
static bool is_value(size_t semicolon) {
    size_t brace = after(semicolon);
    return is(brace, "}") && is(after(brace), ")");
}

void note_ignored(size_t i) {
    if (fails_silently(i) && begins_statement(i) && !in_device_code(i)) {
        size_t open = after(i), close = is(open, "(") ? closing(open) : NONE, end = after(close);
        if (close != NONE && is(end, ";") && !is_value(end)) {
            insert_before(i, "cudasim_ignored(), ");
        }
    }
}
