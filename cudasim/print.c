#include <string.h>

#include "block.h"

/* The output of kernels, in the order of one core. A GPU knows less than the C library, which
   prints it. */

/* ---- formats --------------------------------------------------------------------------------- */

enum { MOST_ARGUMENTS = 32 };

static bool is_size(const char *size, size_t length) {
    return length == 0 || (length == 1 && (*size == 'h' || *size == 'l')) ||
           (length == 2 && size[0] == 'l' && size[1] == 'l');
}

static bool is_type(char type) {
    return type != '\0' && strchr("cdiouxXpeEfgGaAs", type) != NULL;
}

/* The length of the conversion that begins with a '%'. */
static size_t conversion(const char *begin, bool *known, int *arguments) {
    const char *p = begin + 1;
    p += strspn(p, "#0+- ");
    *arguments = 1 + (*p == '*');
    p += strspn(p, "*0123456789");
    bool counted = p[0] == '.' && p[1] == '*'; /* a precision that is an argument */
    *arguments += counted;
    p += *p == '.' ? 1 + strspn(p + 1, "*0123456789") : 0;
    size_t size = strspn(p, "hlqjztL");
    *known = is_size(p, size) && is_type(p[size]) && !counted;
    return (size_t)(p - begin) + size + (p[size] != '\0');
}

static void report_unknown(const char *begin, size_t length, const void *pc) {
    char where[600];
    cudasim_describe_code(pc, where, sizeof where);
    sim_report("undefined behaviour", "printf() at %s: a GPU does not know %.*s", where,
               (int)length, begin);
    sim_detail("it has the types cdiouxXpeEfgGaAs, the sizes h, l and ll, and no precision by *: "
               "what it prints from there on is garbage");
    sim_detail("%%llu prints a size_t that is cast to unsigned long long");
    sim_detail_thread();
}

static void report_too_many(int count, const void *pc) {
    char where[600];
    cudasim_describe_code(pc, where, sizeof where);
    sim_report("undefined behaviour",
               "printf() at %s has %d arguments after its format, and a GPU takes %d", where, count,
               MOST_ARGUMENTS);
    sim_detail("it prints what follows as it stands in the format: print in two calls");
    sim_detail_thread();
}

/* Counts the arguments of a format. After what is unknown there is nothing to look at. */
static int look_at_format(const char *format, const void *pc) {
    int count = 0;
    for (const char *p = strchr(format, '%'); p != NULL; p = strchr(p, '%')) {
        bool known;
        int arguments;
        if (p[1] == '%') {
            p += 2;
            continue;
        }
        size_t length = conversion(p, &known, &arguments);
        count += arguments;
        if (!known) {
            report_unknown(p, length, pc);
            break;
        }
        p += length;
    }
    if (count > MOST_ARGUMENTS) {
        report_too_many(count, pc);
    }
    return count;
}

/* ---- what kernels call ----------------------------------------------------------------------- */

static bool in_kernel(void) {
    return sim_worker != NULL && sim_worker->in_kernel;
}

static void print_in_turn(void) {
    if (in_kernel()) {
        sim_in_turn(sim_worker);
    }
}

int sim_print(const char *format, va_list values, const void *pc, bool again) {
    if (!in_kernel()) {
        return vprintf(format, values);
    }
    int arguments = look_at_format(format, pc);
    if (!again) {
        print_in_turn();
        vprintf(format, values);
    }
    return arguments;
}

int cudasim_in_printf(const char *format, ...) {
    va_list values;
    va_start(values, format);
    int result = sim_print(format, values, __builtin_return_address(0), false);
    va_end(values);
    return result;
}

int cudasim_in_puts(const char *line) {
    print_in_turn();
    return puts(line);
}

int cudasim_in_putchar(int c) {
    print_in_turn();
    return putchar(c);
}
