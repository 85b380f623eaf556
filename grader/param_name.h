/**
 * @file param_name.h
 * @brief What tensors of a parameter are called between judges and probes of labs that train.
 * @ingroup grader
 */
#ifndef GRADER_PARAM_NAME_H
#define GRADER_PARAM_NAME_H

#include "common/params.h"
#include "grader/wire.h"

#define NAME_GRADIENT "gradient of "
#define NAME_WEIGHT "new "
#define NAME_MASTER "master of "
#define NAME_M "m of "
#define NAME_V "v of "
#define NAME_LEFT "left in "

/** "gradient of h.1.ln_2.bias, window 3": `what` is "gradient of ", `when` "window", `i` from 0. */
const char *param_name(char name[WIRE_NAME], const char *what, const Param *param, const char *when,
                       int i);

/** "h.1.ln_2.bias": the parameter alone. */
const char *param_scope(char name[WIRE_NAME], const Param *param);

#endif
