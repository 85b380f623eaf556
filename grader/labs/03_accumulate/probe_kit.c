/* Lab 03 without a submission: plain windows, which have the right bits. */
#include "grader/labs/03_accumulate/shared.h"
#include "grader/probe.h"

/* Backward of each micro-batch in turn, then the update. */
static void accumulate_plain(const Wire *in, Wire *out) {
    accumulate_open(in, out, ACCUMULATE_ARENA);
    Trainer *trainer = &window_run.trainer;
    Memory *memory = trainer->model->memory;
    int micros = window_run.option[OPTION_MICROS];
    for (int first = 0; first < window_run.batches; first += micros) {
        StepReport report = {0};
        for (int i = first; i < first + micros && i < window_run.batches; i++) {
            report.tokens += (size_t)window_run.batch[i].valid;
        }
        float share = 1.0f / (float)report.tokens;
        for (int i = first; i < first + micros && i < window_run.batches; i++) {
            report.loss += model_forward(trainer->model, &window_run.batch[i]) * (double)share;
            model_backward(trainer->model, share);
        }
        report.grad_norm = optimizer_clip(trainer->model, trainer->max_grad_norm);
        report.learning_rate = schedule_rate(&trainer->schedule);
        optimizer_step(trainer->optimizer, report.learning_rate);
        model_zero_grad(trainer->model);
        schedule_tick(&trainer->schedule);
        accumulate_done(&report);
    }
    MemoryUse peak = memory_peak(memory);
    *(uint64_t *)wire_get(out, "peak", WIRE_U64, NULL) =
        memory_total(&peak) + memory_padding(memory);
}

const ProbeCase probe_cases[] = {{"plain", accumulate_plain}, {NULL, NULL}};
