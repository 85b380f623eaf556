/* Hands tensors on by a pointer in static data, which ranks of one process might share. */
/* lab: 13_pipeline/stage.c  honest: part gpipe one_f_one_b in_flight bytes wire bubble */
/* state: fail | crashed */
#include "labs/13_pipeline/contract.h"

static Real *handed_on;

double pipe_window(Pipe *pipe, const Batch *batches, int count, float share) {
    Model *model = pipe->model;
    ModelPart part = model->part;
    double loss = 0;
    for (int i = 0; i < count; i++) {
        Pass pass = pass_new(model, model->memory, NULL);
        pass_begin(&pass, &batches[i], true);
        Real *in = part.embedding ? pass_embed(&pass) : handed_on;
        if (in != NULL) {
            handed_on = model_forward_blocks(&pass, part.first, part.last, in);
            loss += part.head ? pass_head_forward(&pass, handed_on) : 0;
            if (part.head) {
                pass_head_backward(&pass, handed_on, share);
            }
            model_backward_blocks(&pass, part.first, part.last, pass.dx);
        }
        pass_end(&pass);
        pass_free(&pass);
    }
    return loss;
}

double pipe_evaluate(Pipe *pipe, const Batch *batch) {
    (void)pipe, (void)batch;
    return 0;
}
