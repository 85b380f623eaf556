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

/** "gradients of rank 2, window 1": all of a rank's, end to end. `rank` and `i` count from 0, and
    ranks are called by that number. */
const char *rank_name(char name[WIRE_NAME], const char *what, int rank, const char *when, int i);

/** "h.1.ln_2.bias": the parameter alone. */
const char *param_scope(char name[WIRE_NAME], const Param *param);

#endif
