/* Lab 01 in the probe: a trainer made of what the judge gives takes a few steps, and what happens
   is seen from beside (grader/probe_watch.h). */
#include "grader/probe.h"
#include "grader/labs/01_loop/protocol.h"
#include "grader/picture.h"
#include "grader/probe_watch.h"
#include "labs/01_loop/contract.h"

enum { ARENA_BYTES = 256 << 20 };

/* A later hole or mistake ends the program in the first step; what the tasks before it did is
   judged. */
static void loop_cut_short(void) {
    LoopEnough enough = (LoopEnough)window_run.option[OPTION_ENOUGH];
    bool passed = !window_run.trainer.model->pass.active;
    if (window_run.number > 0 || enough == ENOUGH_ALL || !passed) {
        return;
    }
    if (!watch_noted(enough == ENOUGH_UPDATE ? EVENT_STEP : EVENT_BACKWARD)) {
        return;
    }
    if (window_wanted(WANT_UPDATE)) {
        window_give_update();
    }
    window_end_early();
}

static void loop_give_settings(const Trainer *trainer) {
    float *settings = wire_get(window_run.out, "settings", WIRE_F32, NULL);
    settings += window_run.number * LOOP_SETTINGS;
    settings[0] = trainer->max_grad_norm;
    settings[1] = trainer->schedule.learning_rate;
    settings[2] = (float)trainer->schedule.warmup_steps;
    settings[3] = (float)trainer->schedule.max_steps;
}

static void loop_steps(const Wire *in, Wire *out) {
    window_run_open(in, out, "step", (WindowDevice){.arena = ARENA_BYTES, .gpu_checked = true});
    Memory *memory = window_run.trainer.model->memory;
    window_run.trainer.schedule.step = window_run.option[OPTION_START];
    probe_when_cut_short(loop_cut_short);
    for (int step = 0; step < window_run.batches; step++) {
        memory_record(memory, true);
        StepReport report = loop_step(&window_run.trainer, &window_run.batch[step]);
        picture_give(memory, wire_get(out, "memory", WIRE_U64, NULL));
        window_give_report(&report);
        loop_give_settings(&window_run.trainer);
        window_done();
    }
    window_run_close();
}

const ProbeCase probe_cases[] = {{"steps", loop_steps}, {NULL, NULL}};
