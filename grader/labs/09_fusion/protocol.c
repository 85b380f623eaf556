#include "grader/labs/09_fusion/protocol.h"

#include <stdio.h>

const char *fusion_name(char name[WIRE_NAME], const char *what, int i) {
    snprintf(name, WIRE_NAME, "%s %d", what, i);
    return name;
}
