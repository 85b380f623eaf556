/* The end of every failed CHECK(): one line with the place, the condition and the values. The
   contract is in base.h. */
#include "kernels/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *file, int line, const char *condition, const char *format, ...) {
    va_list values;
    va_start(values, format);
    fprintf(stderr, "%s:%d: CHECK(%s) failed: ", file, line, condition);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    abort();
}
