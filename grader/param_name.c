/* Names of the tensors that belong to a parameter. The contract is in param_name.h. */
#include "grader/param_name.h"

#include <stdio.h>

#include "kernels/base.h"

const char *param_scope(char name[WIRE_NAME], const Param *param) {
    char block[16] = "";
    if (param->layer >= 0) {
        snprintf(block, sizeof block, "h.%d.", param->layer);
    }
    int length = snprintf(name, WIRE_NAME, "%s%s", block, param->name);
    CHECK(length < WIRE_NAME, "the name %s is too long", name);
    return name;
}

const char *param_name(char name[WIRE_NAME], const char *what, const Param *param, const char *when,
                       int i) {
    char scope[WIRE_NAME];
    int length =
        snprintf(name, WIRE_NAME, "%s%s, %s %d", what, param_scope(scope, param), when, i + 1);
    CHECK(length < WIRE_NAME, "the name %s is too long", name);
    return name;
}

const char *rank_name(char name[WIRE_NAME], const char *what, int rank, const char *when, int i) {
    int length = snprintf(name, WIRE_NAME, "%s of rank %d, %s %d", what, rank, when, i + 1);
    CHECK(length < WIRE_NAME, "the name %s is too long", name);
    return name;
}
