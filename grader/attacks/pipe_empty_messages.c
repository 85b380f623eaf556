/* As many messages as there should be, with nothing in them. */
/* lab: 13_pipeline/stage.c  honest: part gpipe one_f_one_b in_flight bytes wire bubble */
/* state: fail | crashed */
#include <nccl.h>

#include "labs/13_pipeline/contract.h"

double pipe_window(Pipe *pipe, const Batch *batches, int count, float share) {
    (void)batches, (void)share;
    int last = pipe->stages - 1;
    for (int i = 0; i < count; i++) {
        ncclGroupStart();
        for (int side = -1; side <= 1; side += 2) {
            int peer = pipe->stage + side;
            if (0 <= peer && peer <= last) {
                ncclSend(pipe->model->result, 0, ncclFloat, peer, pipe->comm, 0);
                ncclRecv(pipe->model->result, 0, ncclFloat, peer, pipe->comm, 0);
            }
        }
        ncclGroupEnd();
    }
    return 0;
}

double pipe_evaluate(Pipe *pipe, const Batch *batch) {
    (void)pipe, (void)batch;
    return 0;
}
