#include "grader/labs/08_prefetch/part_offload.h"

#include <cuda_runtime.h>
#include <cudasim_left.h>
#include <cudasim_record.h>
#include <malloc.h>

#include "grader/labs/08_prefetch/part_left.h"
#include "grader/labs/08_prefetch/shared.h"
#include "grader/probe.h"
#include "labs/08_prefetch/contract.h"

/* Opened once, and closed: more than an array by heart may have room for. */
enum { MANY_SEGMENTS = 100 };

static Offload *offload;

/* A pass of another model, begun in pass AMID between forward and backward, and ended after both.
   The first pass, whose record is read, is left alone. */
enum { AMID = 2 };
static struct {
    Memory *memory;
    Model *model;
    Offload *offload;
    int passes;
} amid;

static void amid_open(Device *device, const ModelConfig *config, int B, int T, int segment) {
    amid.memory = memory_new(device, (MemoryOptions){0});
    amid.model = model_new_zero(config, amid.memory);
    amid.offload = offload_open(config, B, T, segment);
}

static void amid_close(void) {
    offload_close(amid.offload);
    memory_free(amid.memory);
}

static bool amid_now(void) {
    return amid.offload != NULL && amid.passes == AMID;
}

static double forward(Model *model, const Batch *batch) {
    double loss = offload_forward(offload, model, batch);
    amid.passes++;
    if (amid_now()) {
        offload_forward(amid.offload, amid.model, batch);
    }
    return loss;
}

static void backward(Model *model, float dloss) {
    offload_backward(offload, model, dloss);
    if (amid_now()) {
        offload_backward(amid.offload, amid.model, dloss);
    }
}

static void small_offload(void *context) {
    const ModelConfig *config = context;
    offload_close(offload_open(config, 1, 1, 1));
}

/* Those that were opened and closed before leave nothing, one of many segments among them. */
static void offload_open_and_close(const ModelConfig *config, int segment, uint64_t *kept) {
    ModelConfig deep = *config;
    deep.L = MANY_SEGMENTS;
    CudasimLeft before = cudasim_left();
    offload_close(offload_open(config, 1, config->T, segment));
    offload_close(offload_open(&deep, 1, 1, 1));
    CudasimLeft after = cudasim_left();
    kept[PASS_PINNED] = after.pinned - before.pinned;
    kept[PASS_KEPT] = (uint64_t)(after.handles - before.handles);
}

/* After a forward pass that no backward follows: an input may be on its way to the host. The event
   says in the record where closing begins. */
static void offload_close_early(const Wire *in, Device *device, const ModelConfig *config,
                                int segment) {
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new_zero(config, memory);
    Batch batch = given_batch(in, 0);
    Offload *early = offload_open(config, batch.B, batch.T, segment);
    cudaStream_t marks;
    cudaEvent_t mark;
    cudaStreamCreateWithFlags(&marks, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&mark, cudaEventDisableTiming);
    offload_forward(early, model, &batch);
    cudaEventRecord(mark, marks);
    offload_close(early);
    cudaEventDestroy(mark);
    cudaStreamDestroy(marks);
    memory_free(memory);
}

void offload_case(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    Batch largest = given_batch(in, 0);
    const int32_t *options = wire_get(in, "options", WIRE_I32, NULL);
    uint64_t *kept = wire_get(out, "kept", WIRE_U64, NULL);
    int32_t segment = options[PASS_SEGMENT];
    mallopt(M_PERTURB, PERTURBED);
    kept[PASS_EACH] = options[PASS_AGAIN] ? left_by_each(small_offload, &config) : 0;
    cudasim_record_begin();
    Device *device = probe_device(true, 0);
    if (options[PASS_AGAIN]) {
        offload_open_and_close(&config, segment, kept);
    }
    CudasimLeft before = cudasim_left();
    offload = offload_open(&config, largest.B, largest.T, segment);
    if (options[PASS_AGAIN]) { /* they share nothing */
        offload_close(offload_open(&config, 1, config.T, segment));
        offload_close(NULL);
        amid_open(device, &config, largest.B, largest.T, segment);
    }
    offload_passes(
        in, out,
        &(PassesBy){.device = device,
                    .budget = (size_t) * (const uint64_t *)wire_get(in, "budget", WIRE_U64, NULL),
                    .forward = forward,
                    .backward = backward});
    kept[PASS_HOST] = cudasim_left().pinned - before.pinned;
    offload_close(offload);
    if (options[PASS_AGAIN]) {
        amid_close();
        offload_close_early(in, device, &config, segment);
    }
}
