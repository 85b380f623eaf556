#include "grader/labs/05_fp16/protocol.h"

#include <stdio.h>

const char *op_name(char name[WIRE_NAME], const char *what, int i) {
    snprintf(name, WIRE_NAME, "%s %d", what, i);
    return name;
}
