/* Who may call whom. Of a file's own functions outside of classes it is known whose they are, and
   nvcc refuses a call from the wrong side, which a C++ compiler would take. What is not certain
   passes: another function of that name may be meant, or a variable. */
#include <stdlib.h>

#include "function.h"
#include "rewrite.h"
#include "scope.h"
#include "tokens.h"

/* Whose a function is, as a set. */
enum { OF_HOST = 1, OF_DEVICE = 2, KERNEL = 4 };

typedef struct Function {
    size_t name, parameters; /* tokens */
    size_t body;             /* the brace that opens it, or NONE */
    unsigned sides;
    bool refused; /* a call of it: once is enough */
} Function;

static Function *functions; /* of the file's own, [0, function_count) */
static size_t function_count;

/* ---- the functions of a file ----------------------------------------------------------------- */

static unsigned sides_between(size_t i, size_t end) {
    unsigned sides = 0;
    for (; i != end; i = after(i)) {
        sides |= is(i, KERNEL_WORD)                         ? KERNEL
                 : is(i, DEVICE_WORD)                       ? OF_DEVICE
                 : is(i, HOST_WORD)                         ? OF_HOST
                 : is(i, "constexpr") || is(i, "consteval") ? OF_HOST | OF_DEVICE
                                                            : 0;
    }
    return sides != 0 ? sides : OF_HOST;
}

/* The function that is declared from `begin` on, unless it is a variable or of a class. */
static void note_function(size_t begin, size_t body) {
    static const char *const no_names[] = {"operator", "::", "~", NULL};
    size_t start = begin;
    while (is(start, "template") && is(after(start), "<")) {
        start = after(closing(after(start)));
    }
    size_t parameters = parameters_of(start), name = before(parameters);
    if (parameters == NONE || !is_kind(name, WORD) || name == start ||
        is_one_of(before(name), no_names) || is_mark_of(after(parameters), "*&") ||
        body_of(parameters) != body) {
        return;
    }
    functions = grow(functions, (function_count + 1) * sizeof *functions);
    functions[function_count++] =
        (Function){name, parameters, body, sides_between(start, name), false};
}

static void note_functions(void) {
    bool own = true;
    size_t begin = NONE;
    for (size_t i = 0; i < token_count; i++) {
        note_own_file(i, &own);
        if (is_kind(i, SPACE) || is_kind(i, DIRECTIVE)) {
            continue;
        }
        begin = begin == NONE ? i : begin;
        bool is_body = is(i, "{") && opens_body(i);
        if (own && (is_body || is(i, ";"))) {
            note_function(begin, is_body ? i : NONE);
        }
        bool ends = is_mark_of(i, ";}") || is_body || (is(i, "{") && opens_namespace(i));
        if (is_mark_of(i, "([") || (is(i, "{") && (is_body || !ends))) {
            i = closing(i);
            if (i == NONE) {
                return; /* the compiler says it better */
            }
        }
        begin = ends ? NONE : begin;
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* All functions of the name at i together: which is meant, the arguments decide. */
static unsigned sides_of(size_t i) {
    unsigned sides = 0;
    for (size_t k = 0; k < function_count; k++) {
        sides |= are_same(functions[k].name, i) ? functions[k].sides : 0;
    }
    return sides;
}

/* The token that follows the name at i and its template arguments. */
static size_t after_name(size_t i) {
    size_t next = after(i);
    if (is(next, "<") && launch_opening(next) == NONE) {
        size_t close = closing(next);
        next = close != NONE ? after(close) : next;
    }
    return next;
}

/* Whether the name at i, which a ( follows, is declared there: a type, and nothing else, stands
   before it in its statement. */
static bool is_declared_at(size_t i) {
    static const char *const no_types[] = {"return", "else",      "do",     "case", "throw",
                                           "goto",   "co_return", "delete", NULL};
    size_t k = before(i);
    for (; k != NONE && !is_mark_of(k, ";{}):"); k = before(k)) {
        if (is(k, ">")) {
            k = opening(k);
        } else if ((!is_kind(k, WORD) && !is(k, "::") && !is_mark_of(k, "*&")) ||
                   is_one_of(k, no_types)) {
            return false;
        }
    }
    return k != before(i);
}

static bool is_noted(size_t i) {
    for (size_t k = 0; k < function_count; k++) {
        if (functions[k].name == i) {
            return true;
        }
    }
    return false;
}

/* Whether the name at i is nothing but that of the file's functions: no header declares it, and
   wherever it stands in the file, it is declared as a function or called. */
static bool is_of_functions(size_t i) {
    static const char *const joints[] = {".", "->", "::", NULL};
    bool own = true;
    for (size_t k = 0; k < token_count; k++) {
        note_own_file(k, &own);
        if (!are_same(k, i) || is_noted(k)) {
            continue;
        }
        size_t next = after_name(k);
        bool called = is(next, "(") || launch_opening(next) != NONE;
        bool declared = is(next, "(") && is_declared_at(k);
        if (own ? !called || declared || is_one_of(before(k), joints) : declared) {
            return false;
        }
    }
    return true;
}

static void refuse(size_t i, const char *format) {
    bool refused = false;
    for (size_t k = 0; k < function_count; k++) {
        if (are_same(functions[k].name, i)) {
            refused = refused || functions[k].refused;
            functions[k].refused = true;
        }
    }
    if (!refused) {
        error_at(i, format, (int)tokens[i].length, tokens[i].text);
    }
}

/* Whether the name at i stands anywhere but in launches. */
static bool is_declared(size_t i) {
    for (size_t k = 0; k < token_count; k++) {
        if (are_same(k, i) && launch_opening(after_name(k)) == NONE) {
            return true;
        }
    }
    return false;
}

static void check_name(const Function *f, size_t i) {
    unsigned sides = sides_of(i);
    size_t next = after_name(i);
    bool launched = launch_opening(next) != NONE;
    bool on_host = f->sides == OF_HOST;
    const char *wrong = NULL;
    if (launched && sides == 0 && !is_declared(i)) {
        wrong = "no kernel %.*s() is declared";
    } else if (sides != 0 && launched && (sides & KERNEL) == 0) {
        wrong = "%.*s() is launched, and it is not a kernel: __global__ is missing where it is "
                "declared";
    } else if (is(next, "(") && !on_host && sides == KERNEL) {
        wrong = "the device calls %.*s() like a function, and it is a kernel: only the host "
                "starts one, by <<<grid, block>>>. What both need belongs into a __device__ "
                "function";
    } else if (is(next, "(") && !on_host && sides == OF_HOST) {
        wrong = "the device calls %.*s(), a function of the host: __device__ is missing where it "
                "is declared";
    } else if (is(next, "(") && on_host && sides == OF_DEVICE) {
        wrong = "the host calls %.*s(), a function of the device: where both call it, it is "
                "declared as __host__ __device__ (and here __CUDA_ARCH__ is defined for both)";
    }
    if (wrong != NULL && is_of_functions(i)) {
        refuse(i, wrong);
    }
}

/* The end of what begins at i and is not the function's own code, or is none at all: a lambda or a
   class, whose words say where it runs; operands that are not evaluated. Else i. */
static size_t skipped(size_t i) {
    static const char *const sides[] = {KERNEL_WORD, DEVICE_WORD, HOST_WORD, NULL};
    static const char *const not_evaluated[] = {"decltype", "sizeof", "noexcept",   "alignof",
                                                "typeid",   "typeof", "__typeof__", NULL};
    size_t open = NONE;
    if (is_one_of(i, sides)) {
        while (is_one_of(after(i), sides)) {
            i = after(i);
        }
        size_t parameters = is(after(i), "{") ? NONE : parameters_of(i);
        open = parameters != NONE ? body_of(parameters) : after(i);
    } else if (is_one_of(i, not_evaluated)) {
        open = after(i);
    }
    size_t close = is_mark_of(open, "({") ? closing(open) : NONE;
    return close != NONE ? close : i;
}

static void check_body(const Function *f) {
    size_t end = f->body != NONE ? closing(f->body) : NONE;
    for (size_t i = f->body; end != NONE && i < end; i = after(skipped(i))) {
        if (is(i, "if") && is(after(i), "constexpr")) {
            return; /* of its branches one may be left out */
        }
        if ((f->sides & OF_HOST) == 0 && (is(i, "throw") || is(i, "try"))) {
            error_at(i, "code of the device cannot throw or catch: let it store an error's number");
        } else if (is_kind(i, WORD)) {
            check_name(f, i);
        }
    }
}

void check_calls(void) {
    note_functions();
    for (size_t k = 0; k < function_count; k++) {
        /* nvcc only warns where a function of both sides calls one of the host. */
        if (functions[k].sides != (OF_HOST | OF_DEVICE)) {
            check_body(&functions[k]);
        }
    }
}
