#include "grader/labs/05_fp16/part_second_trainer.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grader/labs/05_fp16/protocol.h"
#include "kernels/half.h"
#include "labs/05_fp16/contract.h"

enum { APART_BYTES = 32 << 20, APART_SCALE = 1024, APART_PARAMS = 16 };

/* Its model has adapters, which are trained: the base is frozen, and has no gradients. Its memory
   is that of a device: model->result is a page that is open while the device works. */
static struct Apart {
    Trainer trainer;
    Mixed mixed;
    Ops ops, real_ops;
    Device real_device;
    char *page;
    size_t page_bytes;
    int steps;
    int writes; /* of masters into weights */
    bool right; /* the optimizer has seen the gradients that were given */
} apart;

static void apart_open(bool open) {
    if (mprotect(apart.page, apart.page_bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
        probe_lost("mprotect");
    }
}

static void apart_fill(Device *device, void *data, int byte, size_t bytes) {
    apart_open(true);
    apart.real_device.fill(device, data, byte, bytes);
    apart_open(false);
}

static void apart_upload(Device *device, void *to, const void *from, size_t bytes) {
    apart_open(true);
    apart.real_device.upload(device, to, from, bytes);
    apart_open(false);
}

static void apart_download(Device *device, void *to, const void *from, size_t bytes) {
    apart_open(true);
    apart.real_device.download(device, to, from, bytes);
    apart_open(false);
}

/* Memory of the device is one range. */
static bool apart_has(const void *data) {
    uintptr_t at = (uintptr_t)data, known = (uintptr_t)apart.trainer.model->params[0].grad;
    return data == apart.page ||
           (data != NULL && at + APART_BYTES > known && at < known + APART_BYTES);
}

static void apart_unscale(float *grad, size_t n, float inv_scale, float *found_inf) {
    if (grad == NULL) {
        probe_lost("unscale() is given a parameter without a gradient: what is trained is in "
                   "model->params; of a model with adapters model->base is frozen, and has none");
    }
    if (!apart_has(found_inf)) {
        probe_lost("unscale() is to write its answer into a variable of the host: an op reads and "
                   "writes memory of its device, and model->result is a float there");
    }
    apart_open(true);
    apart.real_ops.unscale(grad, n, inv_scale, found_inf);
    apart_open(false);
}

static void apart_sumsq(float *out, TensorList x, const Workspace *workspace) {
    apart_open(true);
    apart.real_ops.sumsq(out, x, workspace);
    apart_open(false);
}

static void apart_cast(Real *out, const float *in, size_t n) {
    const Model *model = apart.trainer.model;
    for (int i = 0; i < model->base_count; i++) {
        if (out == model->base[i].weight) {
            probe_lost("a master is written into a weight that is frozen: what is trained is in "
                       "model->params, of which optimizer->master has one each");
        }
    }
    apart.writes++;
    apart.real_ops.cast_from_float(out, in, n);
}

static float apart_gradient(int param, size_t i) {
    return (float)((int)((i + (size_t)param) % 7) - 3) / 64 + 0x1p-10f;
}

static void apart_see_step(void *context, const Model *model) {
    (void)context;
    apart.right = true;
    apart.steps++;
    for (int k = 0; k < model->param_count; k++) {
        for (size_t i = 0; i < model->params[k].count; i++) {
            apart.right = apart.right && model->params[k].grad[i] == apart_gradient(k, i);
        }
    }
}

static void apart_new(void) {
    ModelConfig config = {.V = 256, .T = 8, .L = 1, .NH = 2, .C = 10, .precision = F16};
    /* Tensors that four does not divide. */
    config.adapter = (Adapter){.rank = 3, .targets = (1 << BLOCK_LINEARS) - 1, .alpha = 4};
    Device *device = probe_device(false, APART_BYTES);
    Model *model = model_new(&config, memory_new(device, (MemoryOptions){.checked = true}), 1);
    Optimizer *optimizer =
        optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});
    optimizer->before_step = apart_see_step;
    apart.mixed.scaler = (Scaler){APART_SCALE, 2, 0.5f, 1, 1, 0};
    apart.trainer = (Trainer){.model = model,
                              .optimizer = optimizer,
                              .schedule = {DECAY_CONSTANT, 0.25f, 0, 100, 0},
                              .mixed = &apart.mixed};
    apart.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    apart.page = mmap(NULL, apart.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(apart.page != MAP_FAILED && model->param_count <= APART_PARAMS, "no second trainer");
    apart.real_device = *device;
    device->fill = apart_fill;
    device->upload = apart_upload;
    device->download = apart_download;
    apart.real_ops = apart.ops = *model->ops;
    apart.ops.unscale = apart_unscale;
    apart.ops.sumsq = apart_sumsq;
    apart.ops.cast_from_float = apart_cast;
    model->ops = &apart.ops;
    model->result = (float *)(void *)apart.page;
    probe_lost_in(apart.page, apart.page_bytes,
                  "the host reads or writes model->result itself: it is a float on the device, "
                  "set by device_fill() and fetched by device_download()");
}

/* A window whose gradients are there already, scaled. */
static StepReport apart_window(bool bad) {
    Model *model = apart.trainer.model;
    StepReport report = {.skipped = !bad};
    for (int k = 0; k < model->param_count; k++) {
        float *grad = model->params[k].grad;
        for (size_t i = 0; i < model->params[k].count; i++) {
            grad[i] = apart_gradient(k, i) * apart.mixed.scaler.scale;
        }
        grad[model->params[k].count - 1] *= bad && k == model->param_count - 1 ? NAN : 1;
    }
    mixed_update(&apart.trainer, &report);
    return report;
}

/* Whether weights are their masters, rounded, and have moved. */
static bool apart_learned(void) {
    const Model *model = apart.trainer.model;
    static float weight[4096];
    for (int k = 0; k < model->param_count; k++) {
        const float *master = apart.trainer.optimizer->master[k];
        size_t count = model->params[k].count;
        CHECK(count <= sizeof weight / sizeof *weight, "%zu numbers", count);
        model_download_weight(model, &model->params[k], weight);
        for (size_t i = 0; i < count; i++) {
            if (master[i] == 0 || weight[i] != precision_round(F16, master[i])) {
                return false;
            }
        }
    }
    return true;
}

static bool apart_zero(void) {
    const Model *model = apart.trainer.model;
    for (int k = 0; k < model->param_count; k++) {
        for (size_t i = 0; i < model->params[k].count; i++) {
            if (!(model->params[k].grad[i] == 0)) {
                return false;
            }
        }
    }
    return true;
}

/* Whether backward and the optimizer are given the right numbers at a scale. */
static bool apart_right_at(float scale) {
    int steps = apart.steps;
    apart.mixed.scaler.scale = scale;
    bool shared = mixed_scale(&apart.mixed, 0.25f) == 0.25f * scale;
    apart_window(false);
    return shared && apart.steps == steps + 1 && apart.right;
}

/* A window of a trainer with another scale, whose scaler stays although its weights are half; one
   with NaN; one in which the scaler is dynamic again; one with a large scale, and a small one. */
void second_trainer(const Wire *in, Wire *out) {
    (void)in;
    uint64_t *seen = wire_get(out, "apart", WIRE_U64, NULL);
    const Scaler *scaler = &apart.mixed.scaler;
    const Mixed before = {.scaler = {4 * APART_SCALE, 2, 0.5f, 1, 1, 0}, .dynamic = true};
    mixed_scale(&before, 1);
    apart_new();
    const Mixed dynamic = {.scaler = *scaler, .dynamic = true};
    seen[APART_SHARE] = mixed_scale(&dynamic, 0.25f) == APART_SCALE / 4;
    seen[APART_FIXED] = mixed_scale(&apart.mixed, 0.25f) == APART_SCALE / 4;
    StepReport report = apart_window(false);
    seen[APART_TAKEN] = apart.steps == 1 && !report.skipped;
    seen[APART_GRADIENTS] = apart.right;
    seen[APART_WEIGHTS] = apart_learned();
    seen[APART_ZERO] = apart_zero();
    seen[APART_STAYS] = scaler->scale == APART_SCALE && scaler->good_steps == 0;
    apart.writes = 0;
    report = apart_window(true);
    seen[APART_BAD] = report.skipped;
    seen[APART_SKIPPED] = apart.steps == 1;
    seen[APART_UNWRITTEN] = apart.writes == 0;
    seen[APART_CLEAN] = apart_zero();
    seen[APART_STAYS] = seen[APART_STAYS] && scaler->scale == APART_SCALE;
    apart.mixed.dynamic = true;
    apart_window(false);
    seen[APART_AGAIN] = apart.steps == 2;
    seen[APART_GROWS] = scaler->scale == 2 * APART_SCALE;
    seen[APART_BEYOND] = apart_right_at(0x1p40f);
    seen[APART_BELOW] = apart_right_at(0.5f);
}
