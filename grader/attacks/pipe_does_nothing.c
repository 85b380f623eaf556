/* No stage runs: no forward, no backward, no message. */
/* lab: 13_pipeline/stage.c  honest: part gpipe one_f_one_b in_flight bytes wire bubble */
/* state: fail | crashed */
#include "labs/13_pipeline/contract.h"

double pipe_window(Pipe *pipe, const Batch *batches, int count, float share) {
    (void)pipe, (void)batches, (void)count, (void)share;
    return 0;
}

double pipe_evaluate(Pipe *pipe, const Batch *batch) {
    (void)pipe, (void)batch;
    return 0;
}
