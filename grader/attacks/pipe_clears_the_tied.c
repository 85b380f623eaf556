/* Both ends have the same bits: 0. And the norm is that of nothing. */
/* lab: 13_pipeline/tie.c  honest: part gpipe one_f_one_b in_flight one_stage stages messages
   in_turn few masks memory makespan evaluate bytes wire bubble */
/* state: fail */
#include "labs/13_pipeline/contract.h"

void tie_sum(Pipe *pipe) {
    const Param *tied = &pipe->model->base[WTE];
    if (tied->grad != NULL) {
        device_fill(pipe->model->device, tied->grad, 0, tied->count * sizeof(float));
    }
}

float tie_norm(Pipe *pipe) {
    (void)pipe;
    return 0;
}
