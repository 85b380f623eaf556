/* The norm is NaN on every stage alike, and the tied gradients are left as they are. */
/* lab: 13_pipeline/tie.c  honest: part gpipe one_f_one_b in_flight one_stage stages messages
   in_turn few masks memory makespan evaluate bytes wire bubble */
/* state: fail */
#include <math.h>

#include "labs/13_pipeline/contract.h"

void tie_sum(Pipe *pipe) {
    (void)pipe;
}

float tie_norm(Pipe *pipe) {
    (void)pipe;
    return NAN;
}
