/* Of a hand-in for lab 13: a message holds the address of what `shown()` gives, and is answered
   when the numbers have been read. */
static size_t bytes_of(const Pass *pass) {
    size_t each = pass->model->config.precision == F32 ? 4 : 2;
    return (size_t)pass->B * (size_t)pass->T * (size_t)pass->model->config.C * each;
}

static bool there(const Pipe *pipe, int stage) {
    return 0 <= stage && stage < pipe->stages;
}

static void exchange(const Pipe *pipe, const uint64_t *out, int to, uint64_t *in, int from) {
    ncclGroupStart();
    if (there(pipe, to)) {
        ncclSend(out, 1, ncclUint64, to, pipe->comm, 0);
    }
    if (there(pipe, from)) {
        ncclRecv(in, 1, ncclUint64, from, pipe->comm, 0);
    }
    ncclGroupEnd();
    cudaStreamSynchronize(0);
}

void pipe_exchange(const PipeWindow *window, const PipeWork *done, const PipeWork *next) {
    const Pipe *pipe = window->pipe;
    ModelPart part = pipe->model->part;
    uint64_t out = 0, in = 0;
    int to = done == NULL ? -1 : pipe->stage + (done->backward ? -1 : 1);
    int from = next == NULL ? -1 : pipe->stage + (next->backward ? 1 : -1);
    const void *mine = NULL;
    if (there(pipe, to)) {
        const Pass *pass = pipe_pass(window, *done);
        mine = shown(done->backward ? pass->dx : pass->x[part.last], bytes_of(pass));
        out = (uint64_t)(uintptr_t)mine;
    }
    exchange(pipe, &out, to, &in, from);
    if (there(pipe, from)) {
        const Pass *pass = pipe_pass(window, *next);
        memcpy(next->backward ? pass->dx : pass->x[part.first], (const void *)(uintptr_t)in,
               bytes_of(pass));
    }
    exchange(pipe, &in, from, &out, to);
    if (mine != NULL) {
        taken_back(mine);
    }
}
