/* Lab 08: the inputs of segments wait in host memory. The contracts are in
   labs/08_prefetch/contract.h. */
#include <cuda_runtime.h>
#include <stdlib.h>

#include "common/block.h"
#include "common/lab.h"
#include "labs/08_prefetch/contract.h"

/* The input of segment s is on the device in place s % 2, and so is the output of the one before;
   the last output is that of the blocks. */
struct Offload {
    int segment;  /* blocks of one */
    size_t bytes; /* of an input, at most */
    char *host;   /* pinned: an input for each segment */
    cudaStream_t copies;
    Real *place[2];        /* during a pass */
    cudaEvent_t ready[2];  /* in the default stream: a copy from or to the place may begin */
    cudaEvent_t copied[2]; /* in the copy stream: the last copy of the place is over */
};

#define EXPECT(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))

/* ---- open and close -------------------------------------------------------------------------- */

Offload *offload_open(const ModelConfig *config, int B, int T, int segment) {
    CHECK(segment >= 1 && segment <= config->L, "segments of %d, the model has %d blocks", segment,
          config->L);
    Offload *offload = calloc(1, sizeof *offload);
    CHECK(offload != NULL, "no memory for a few bytes");
    offload->segment = segment;
    offload->bytes = offload_input(config, B, T);
    for (int i = 0; i < 2; i++) {
        EXPECT(cudaEventCreateWithFlags(&offload->ready[i], cudaEventDisableTiming));
        EXPECT(cudaEventCreateWithFlags(&offload->copied[i], cudaEventDisableTiming));
    }
    TODO("task 4: host memory for the input of every segment, a stream for copies (about 3 lines)");
    return offload;
}

void offload_close(Offload *offload) {
    if (offload == NULL) {
        return;
    }
    TODO("task 4: wait for the copies, give both back (about 3 lines)");
    for (int i = 0; i < 2; i++) {
        EXPECT(cudaEventDestroy(offload->ready[i]));
        EXPECT(cudaEventDestroy(offload->copied[i]));
    }
    free(offload);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* The input of segment s is complete: it goes to the host, beside what the default stream does. */
static void send(Offload *offload, const Model *model, int s) {
    size_t bytes = offload_input(&model->config, model->pass.B, model->pass.T);
    CHECK(bytes <= offload->bytes, "%zu bytes, prepared for %zu", bytes, offload->bytes);
    (void)s;
    TODO("task 4: the copy out, after what has written the input (about 5 lines)");
}

/* The work on what is in the place of input s has been enqueued: it comes back. */
static void fetch(Offload *offload, const Model *model, int s) {
    (void)offload, (void)model, (void)s;
    TODO("task 4: the copy back, after the last reader of what lies in the place (about 5 lines)");
}

/* The default stream goes on when the last copy from or to the place of input s is over. */
static void await(const Offload *offload, int s) {
    (void)offload, (void)s;
    TODO("task 4: before the place is written, or read (1 line)");
}

/* ---- segments, as in lab 04 ------------------------------------------------------------------ */

/* Segment s ends before this block. */
static int segment_end(int L, int S, int s) {
    int left = L - s * S;
    return left > S ? L - left + S : L;
}

/* From its input into the other place; nothing of its blocks stays. */
static void run_segment(const Offload *offload, Model *model, int s) {
    int first = s * offload->segment, end = segment_end(model->config.L, offload->segment, s);
    const Real *in = offload->place[s % 2];
    Real *out = offload->place[(s + 1) % 2];
    model->pass.rngs[first] = model->rng;
    for (int layer = first; layer < end; layer++) {
        MemoryMark mark = memory_mark(model->memory);
        Block scratch = block_alloc(model, layer);
        block_forward(model, layer, out, in, &scratch);
        memory_release(model->memory, mark);
        in = out;
    }
}

/* Once more, with the same masks; all that backward needs stays until its block has run. */
static void spend_segment(const Offload *offload, Model *model, int s) {
    Pass *pass = &model->pass;
    int first = s * offload->segment, end = segment_end(model->config.L, offload->segment, s);
    Rng after = model->rng;
    model->rng = pass->rngs[first];
    model_forward_blocks(pass, first, end, offload->place[s % 2]);
    model_backward_blocks(pass, first, end, pass->dx);
    model->rng = after;
}

/* ---- the pass -------------------------------------------------------------------------------- */

double offload_forward(Offload *offload, Model *model, const Batch *batch) {
    int count = offload_segments(model->config.L, offload->segment);
    model_begin(model, batch, true);
    offload->place[0] = model_embed(model);
    offload->place[1] = model_boundary(model, 0);
    for (int s = 0; s < count; s++) {
        send(offload, model, s);
        (void)await; /* task 4: may this segment write its output yet? (about 3 lines) */
        run_segment(offload, model, s);
    }
    return model_head_forward(model, offload->place[count % 2]);
}

void offload_backward(Offload *offload, Model *model, float dloss) {
    int last = offload_segments(model->config.L, offload->segment) - 1;
    CHECK(model->pass.active && model->pass.train, "offload_forward() comes first");
    fetch(offload, model, last);
    model_head_backward(model, offload->place[(last + 1) % 2], dloss);
    for (int s = last; s >= 0; s--) {
        TODO("task 4: this segment's input is needed, and the next one's place is free (4 lines)");
        spend_segment(offload, model, s);
    }
    model_embed_backward(model);
    model_end(model);
}
