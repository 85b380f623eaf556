/* The steps of a run: windows, the update, progress, saves. Its contract, with the run's state, is
   in run_state.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/lab.h"
#include "labs/01_loop/contract.h"
#include "labs/03_accumulate/contract.h"
#include "train/fused.h"
#include "train/profile.h"
#include "train/run_state.h"

enum {
    /* The step whose memory is drawn: the first one pays for what is done once. */
    RECORDED_STEP = 2,
    /* A scale of 2^16 is 1 after 16 of them; after that many in a row, nothing will be learned any
       more. */
    MOST_SKIPPED = 40,
};

/* It is wrong on all ranks alike: one of them says so. */
__attribute__((format(printf, 2, 3))) static void complain(const Run *run, const char *format,
                                                           ...) {
    va_list values;
    if (run_speaks(run)) {
        va_start(values, format);
        fputs("train: ", stderr);
        vfprintf(stderr, format, values);
        fputc('\n', stderr);
        va_end(values);
    }
}

/* 0 where there is no scaler. */
static float loss_scale(const Run *run) {
    return run->mixed.dynamic ? run->mixed.scaler.scale : 0;
}

static int print_progress(Run *run, const StepReport *step) {
    double seconds = run->train_seconds - run->line_began;
    MemoryUse peak = memory_peak(run->memory), in_use = memory_now(run->memory);
    size_t tokens = run->snapshot.loss_tokens;
    Progress progress = {
        .step = run->trainer.schedule.step,
        .steps = run->last_step,
        .loss = tokens > 0 ? run->snapshot.loss_sum / (double)tokens : 0,
        .grad_norm = step->grad_norm,
        .learning_rate = step->learning_rate,
        .loss_scale = loss_scale(run),
        .tokens_per_second = seconds > 0 ? (double)run->line_tokens / seconds : 0,
        .memory_now = memory_total(&in_use),
        .memory_peak = memory_total(&peak),
    };
    run->snapshot.loss_sum = 0;
    run->snapshot.loss_tokens = 0;
    run->line_tokens = 0;
    run->line_began = run->train_seconds;
    return report_progress(run->report, &progress);
}

static bool due(int step, int every) {
    return every > 0 && step % every == 0;
}

/* A scale that has grown; one that falls is in the line of the skipped step. */
static int tell_scale(Run *run) {
    float scale = loss_scale(run);
    int result = 0;
    if (scale > run->scale) {
        result = report_scale(run->report, run->trainer.schedule.step, (double)run->scale,
                              (double)scale);
    }
    return result;
}

/* A rank that does not write brings what only it has. */
static int save(Run *run) {
    report_break(run->report);
    return run->way->save(run) == 0 ? 0 : EXIT_RUN;
}

/* Between updates: lines, validations, checkpoints. */
static int after_update(Run *run, const StepReport *step) {
    const TrainOptions *options = &run->options;
    int number = run->trainer.schedule.step;
    bool last = number == run->last_step;
    run->skipped = 0;
    run->snapshot.loss_sum += step->loss * (double)step->tokens;
    run->snapshot.loss_tokens += step->tokens;
    if (tell_scale(run) != 0) {
        return EXIT_RUN;
    }
    if (!due(number, options->logging_steps) && !last) {
        report_between(run->report, number, run->last_step);
    } else if (print_progress(run, step) != 0) {
        return EXIT_RUN;
    }
    bool evaluates = due(number, options->eval_steps) && !last;
    bool saves = run->saves && (due(number, options->save_steps) || last);
    if (evaluates || saves) {
        run->way->gather(run);
    }
    if (evaluates && run_evaluates(run)) {
        device_synchronize(run->device);
        double sent = comm_sent(run->comm);
        if (report_eval(run->report, number, run->way->evaluate(run)) != 0) {
            return EXIT_RUN;
        }
        device_synchronize(run->device);
        run->sent_before += comm_sent(run->comm) - sent; /* not by updates */
    }
    return saves ? save(run) : 0;
}

/* Nothing was learned, so nothing is due: the same update is tried again with other data. */
static int after_skip(Run *run) {
    int update = run->trainer.schedule.step + 1;
    if (report_skip(run->report, update, (double)run->scale, (double)loss_scale(run)) != 0) {
        return EXIT_RUN;
    }
    if (++run->skipped == MOST_SKIPPED) {
        complain(run, "update %d was skipped %d times in a row: giving up", update, MOST_SKIPPED);
        return EXIT_RUN;
    }
    return 0;
}

static void begin_window(Run *run) {
    int number = run->trainer.schedule.step + 1;
    bool recorded = number == run->first_step + RECORDED_STEP ||
                    (number == run->last_step && number < run->first_step + RECORDED_STEP);
    memory_record(run->memory, recorded);
    run->scale = loss_scale(run);
    run->row = data_position(run->data).row;
    run->window_began = now();
}

/* Called by train_epoch() after each window. @return whether to go on */
static bool end_window(void *context, const StepReport *own) {
    Run *run = context;
    StepReport mine = *own;
    mine.loss += run->pipeline.loss; /* of a window in stages: it has run as a whole */
    StepReport all = run_is_shared(run) ? ranks_report(&run->trainer, &mine) : mine, *step = &all;
    const Schedule *schedule = &run->trainer.schedule;
    int updates = schedule->step - run->first_step;
    device_synchronize(run->device);
    memory_record(run->memory, false);
    run->train_seconds += now() - run->window_began;
    run->samples += data_position(run->data).row - run->row;
    run->line_tokens += step->tokens;
    if (run->windows == 0) {
        run->first_loss = step->loss;
    }
    if (++run->windows == 1 && run->options.profile) {
        profile_reset();
        run->profile_began = run->train_seconds;
    }
    if (!step->skipped && updates <= run->updates) {
        complain(run, "the training step did not tick the schedule");
        run->result = EXIT_RUN;
        return false;
    }
    run->updates = updates;
    run->result = step->skipped ? after_skip(run) : after_update(run, step);
    bool more = run->result == 0 && schedule->step < run->last_step;
    if (more) {
        begin_window(run);
    }
    return more;
}

bool run_needs_windows(const TrainOptions *options) {
    return options->accumulation > 1 || options->checkpointing ||
           options->config.precision != F32 || options->cuda_graph;
}

/* train_epoch(), with nothing but lab 01. */
static void plain_epoch(Run *run) {
    Batch batch;
    bool more = true;
    while (more && data_next(run->data, &batch)) {
        StepReport step = loop_step(&run->trainer, &batch);
        more = end_window(run, &step);
    }
}

int run_steps(Run *run) {
    const TrainOptions *options = &run->options;
    if (options->profile) {
        profile_begin(run->trainer.model);
    }
    if (options->cuda_graph) {
        run->graph = graphed_new(&run->trainer);
    }
    device_synchronize(run->device); /* what was enqueued before is sent before */
    run->sent_before = comm_sent(run->comm);
    while (run->result == 0 && run->trainer.schedule.step < run->last_step) {
        int windows = run->windows;
        if (data_batches_left(run->data) == 0) {
            data_next_epoch(run->data);
        }
        begin_window(run);
        if (options->cuda_graph) {
            graph_epoch(run->graph, run->data, options->accumulation, end_window, run);
        } else if (run_is_shared(run) || run_needs_windows(options)) {
            train_epoch(&run->trainer, run->data, options->accumulation, end_window, run);
        } else {
            plain_epoch(run);
        }
        if (run->result == 0 && run->windows == windows) {
            complain(run, "train_epoch() returned without running a window");
            run->result = EXIT_RUN;
        }
    }
    device_synchronize(run->device);
    run->sent = comm_sent(run->comm);
    if (options->profile) {
        profile_end(run->trainer.model);
    }
    return run->result;
}
