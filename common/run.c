#include "common/run.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/files.h"
#include "common/lab.h"
#include "common/lab00.h"
#include "common/lab01.h"
#include "common/lab03.h"
#include "common/lab04.h"
#include "common/lab05.h"
#include "common/profile.h"
#include "common/report.h"
#include "common/sample.h"
#include "common/snapshot.h"
#include "common/timeline.h"
#include "common/weights.h"

/* The step whose memory is drawn: the first one pays for what is done once. */
enum { RECORDED_STEP = 2 };

typedef struct Run {
    TrainOptions options;
    Device *device;
    Memory *memory;
    Data *data;
    Trainer trainer;
    Report *report;
    Snapshot snapshot;
    char *resume_folder;
    int first_step, last_step;
    size_t samples;
    MemoryUse predicted;
    double train_seconds; /* in steps only */
    double line_began;    /* train_seconds at the last line */
    size_t line_tokens;   /* tokens since then */
    double profile_began; /* train_seconds when the profile was reset */
    double eval_loss;
    MemoryUse peak;
    size_t padding, overhead;
} Run;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int wrong(const char *text) {
    fprintf(stderr, "train: %s\n", text);
    return EXIT_USAGE;
}

/* Options that need a lab call into it before anything is touched: where the lab's file is not
   there, what stands in for it ends the program here. */
static int check_labs(const TrainOptions *options) {
    if (options->accumulation > 1) {
        train_epoch(NULL, NULL, options->accumulation, NULL, NULL);
    }
    if (options->checkpointing) {
        checkpoint_segment(&options->config, options->B, options->T, 0);
    }
    if (options->fp16 || options->bf16) {
        Scaler scaler;
        scaler_init(&scaler);
    }
    if (options->optim != OPTIM_ADAMW) {
        return wrong("needs lab 07 (07_optimizers is not here)");
    }
    return 0;
}

static int open_device(Run *run) {
    bool gpu = run->options.device == DEVICE_GPU;
    run->device = gpu ? device_gpu_new() : device_cpu_new(0);
    if (run->device == NULL) {
        return gpu ? EXIT_USAGE : EXIT_RUN;
    }
    if (run->device->warning != NULL) {
        fprintf(stderr, "warning: %s\n", run->device->warning);
    }
    printf("Device: %s, %s\n", run->device->name, run->device->note);
    return 0;
}

/* The shape from a folder, where one is given; then the sequence length. */
static int settle_config(Run *run) {
    TrainOptions *options = &run->options;
    const char *folder = options->model;
    if (options->resume != NULL) {
        bool latest = strcmp(options->resume, "latest") == 0;
        run->resume_folder =
            latest ? snapshot_latest(options->output_dir) : strdup(options->resume);
        if (run->resume_folder == NULL) {
            fprintf(stderr, "%s: no checkpoint-<step> to go on from\n", options->output_dir);
            return EXIT_USAGE;
        }
        folder = run->resume_folder;
    }
    if (folder != NULL) {
        char *path = path_join(folder, "config.json");
        int result = config_load(&options->config, path);
        free(path);
        if (result != 0) {
            return EXIT_USAGE;
        }
    }
    if (options->T == 0) {
        options->T = options->config.T;
    }
    if (options->T > options->config.T) {
        return wrong("--block_size: sequences are longer than n_positions");
    }
    if ((double)options->B * options->T > 1 << 30) {
        return wrong("--per_device_train_batch_size: more than 2^30 tokens in a micro-batch");
    }
    return 0;
}

static int open_data(Run *run) {
    const TrainOptions *options = &run->options;
    run->data = data_new((DataOptions){
        .path = options->data,
        .B = options->B,
        .T = options->T,
        .documents = options->documents,
        .eval_fraction = options->eval_fraction,
        .seed = (uint64_t)options->seed,
    });
    if (run->data == NULL) {
        return EXIT_USAGE;
    }
    double steps = (double)options->epochs * (double)data_batches_left(run->data);
    run->last_step = options->max_steps > 0 ? options->max_steps : (int)fmin(steps, INT32_MAX);
    return 0;
}

static void build(Run *run) {
    const TrainOptions *options = &run->options;
    MemoryOptions memory = {.budget = options->budget,
                            .checked = options->check || memory_checked_by_default()};
    AdamW adamw = {.beta1 = (float)options->beta1,
                   .beta2 = (float)options->beta2,
                   .epsilon = (float)options->epsilon,
                   .weight_decay = (float)options->weight_decay};
    run->memory = memory_new(run->device, memory);
    run->trainer.model = model_new(&options->config, run->memory, (uint64_t)options->seed);
    run->trainer.optimizer = optimizer_new(run->trainer.model, adamw);
    run->trainer.max_grad_norm = (float)options->max_grad_norm;
    run->trainer.schedule = (Schedule){.decay = (Decay)options->decay,
                                       .learning_rate = (float)options->learning_rate,
                                       .warmup_steps = options->warmup_steps,
                                       .max_steps = run->last_step};
    run->snapshot = (Snapshot){.trainer = &run->trainer, .data = run->data};
}

static int restore(Run *run) {
    int result = 0;
    if (run->resume_folder != NULL) {
        result = snapshot_load(&run->snapshot, run->resume_folder);
        run->first_step = run->trainer.schedule.step;
    } else if (run->options.model != NULL) {
        char *path = path_join(run->options.model, "model.safetensors");
        result = weights_load(run->trainer.model, path);
        free(path);
    }
    return result == 0 ? 0 : EXIT_USAGE;
}

static int open_output(Run *run) {
    const char *folder = run->options.output_dir;
    if (folder != NULL) {
        if (folder_make(folder) != 0) {
            return EXIT_USAGE;
        }
        snapshot_clean(folder);
    }
    run->report = report_new(folder, run->first_step);
    return run->report != NULL ? 0 : EXIT_RUN;
}

static void print_header(const Run *run) {
    const TrainOptions *options = &run->options;
    const ModelConfig *config = &options->config;
    printf("Model:  %.2f M parameters (%d layers, %d heads, %d channels, vocabulary %d), %s, "
           "%s attention\n",
           1e-6 * (double)model_param_elements(run->trainer.model), config->L, config->NH,
           config->C, config->V, precision_name(config->precision),
           config->attention == ATTENTION_PLAIN ? "plain" : "flash");
    printf("Data:   %s, %zu bytes as %s of up to %d, %zu tokens an epoch\n", options->data,
           data_bytes(run->data), options->documents ? "documents" : "windows", options->T,
           data_epoch_tokens(run->data));
    printf("Memory: %.2f MiB predicted\n", (double)memory_total(&run->predicted) / (1024 * 1024));
    printf("Run:    %d updates of %d sequences", run->last_step - run->first_step, options->B);
    if (run->resume_folder != NULL) {
        printf(", going on from %s", run->resume_folder);
    }
    printf("\n\n");
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

static double evaluate(Run *run) {
    Batch batch;
    double loss = 0;
    size_t tokens = 0;
    for (size_t i = 0; data_eval(run->data, i, &batch); i++) {
        loss += model_evaluate(run->trainer.model, &batch);
        tokens += (size_t)batch.valid;
    }
    return tokens > 0 ? loss / (double)tokens : (double)NAN;
}

static int save(Run *run) {
    report_break(run->report);
    return snapshot_save(&run->snapshot, run->options.output_dir, run->options.save_total_limit);
}

static bool due(int step, int every) {
    return every > 0 && step % every == 0;
}

/* What happens between steps: lines, validations, checkpoints. */
static int after_step(Run *run, const StepReport *step) {
    const TrainOptions *options = &run->options;
    int number = run->trainer.schedule.step;
    bool last = number == run->last_step;
    run->snapshot.loss_sum += step->loss * (double)step->tokens;
    run->snapshot.loss_tokens += step->tokens;
    run->line_tokens += step->tokens;
    if ((due(number, options->logging_steps) || last) && print_progress(run, step) != 0) {
        return EXIT_RUN;
    }
    if (due(number, options->eval_steps) && !last) {
        if (report_eval(run->report, number, evaluate(run)) != 0) {
            return EXIT_RUN;
        }
    }
    if (options->output_dir != NULL && (due(number, options->save_steps) || last)) {
        return save(run) == 0 ? 0 : EXIT_RUN;
    }
    return 0;
}

static int one_step(Run *run) {
    Batch batch;
    while (!data_next(run->data, &batch)) {
        data_next_epoch(run->data);
    }
    int number = run->trainer.schedule.step + 1;
    bool recorded = number == run->first_step + RECORDED_STEP ||
                    (number == run->last_step && number < run->first_step + RECORDED_STEP);
    memory_record(run->memory, recorded);
    double start = now();
    StepReport step = loop_step(&run->trainer, &batch);
    device_synchronize(run->device);
    run->train_seconds += now() - start;
    run->samples += (size_t)batch.B;
    return after_step(run, &step);
}

static int train(Run *run) {
    int result = 0;
    if (run->options.profile) {
        profile_begin(run->trainer.model);
    }
    for (int done = 0; run->trainer.schedule.step < run->last_step && result == 0; done++) {
        if (run->options.profile && done == 1) {
            profile_reset();
            run->profile_began = run->train_seconds;
        }
        result = one_step(run);
        if (run->trainer.schedule.step <= run->first_step + done) {
            fprintf(stderr, "train: the training step did not tick the schedule\n");
            return EXIT_RUN;
        }
    }
    if (run->options.profile) {
        profile_end(run->trainer.model);
    }
    return result;
}

static void write_timeline(Run *run) {
    const char *folder = run->options.output_dir;
    size_t events;
    memory_record(run->memory, false);
    memory_events(run->memory, &events);
    if (folder == NULL || events == 0) {
        return;
    }
    char title[96];
    snprintf(title, sizeof title, "Memory of one training step (%s%s)",
             run->device->simulated ? "simulated " : "", run->device->name);
    char *picture = path_join(folder, "memory.svg");
    char *trace = path_join(folder, "memory.trace.json");
    if (timeline_picture(run->memory, title, picture) == 0) {
        printf("Memory timeline: %s\n", picture);
    }
    if (timeline_trace(run->memory, title, trace) == 0) {
        printf("  as a trace:    %s (open in ui.perfetto.dev)\n", trace);
    }
    free(picture);
    free(trace);
}

static void print_sample(Run *run) {
    const TrainOptions *options = &run->options;
    unsigned char *text = malloc((size_t)options->generate + 1);
    CHECK(text != NULL, "no memory for %d bytes", options->generate);
    Rng rng = rng_new((uint64_t)options->seed, RNG_SAMPLE);
    sample_text(run->trainer.model, options->prompt, options->generate, (float)options->temperature,
                &rng, text);
    printf("\nThe model goes on from \"%s\":\n\n%s", options->prompt, options->prompt);
    for (int i = 0; i < options->generate; i++) {
        bool shown = isprint(text[i]) || text[i] == '\n' || text[i] == '\t';
        putchar(shown ? text[i] : '?');
    }
    printf("\n");
    free(text);
}

static int finish(Run *run) {
    const TrainOptions *options = &run->options;
    int steps = run->last_step - run->first_step;
    run->peak = memory_peak(run->memory);
    run->padding = memory_padding(run->memory);
    run->overhead = device_overhead(run->device);
    run->eval_loss = evaluate(run);
    Summary summary = {
        .seconds = run->train_seconds,
        .samples = run->samples,
        .peak = run->peak,
        .predicted = run->predicted,
        .has_prediction = steps > 0,
        .padding = run->padding,
        .overhead = run->overhead,
        .eval_loss = run->eval_loss,
        .unigram_entropy = data_unigram_entropy(run->data),
    };
    int result = report_summary(run->report, &summary);
    write_timeline(run);
    if (options->profile && steps > 1) {
        profile_print(run->trainer.model, run->train_seconds - run->profile_began, steps - 1,
                      stdout);
    }
    if (options->generate > 0) {
        print_sample(run);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        result = file_error("standard output", "cannot write");
    }
    return result == 0 ? 0 : EXIT_RUN;
}

static void close_run(Run *run) {
    report_free(run->report);
    optimizer_free(run->trainer.optimizer);
    model_free(run->trainer.model);
    memory_free(run->memory);
    data_free(run->data);
    device_free(run->device);
    free(run->resume_folder);
}

int run_training(const TrainOptions *options) {
    Run run = {.options = *options};
    int result = check_labs(options);
    if (result == 0) {
        result = settle_config(&run);
    }
    if (result == 0) {
        result = open_data(&run);
    }
    if (result == 0) {
        result = open_device(&run);
    }
    if (result == 0) {
        run.predicted = bytes_predict(&run.options.config, data_batch_rows(run.data), run.options.T,
                                      run.device);
        build(&run);
        result = restore(&run);
    }
    if (result == 0) {
        result = open_output(&run);
    }
    if (result == 0) {
        print_header(&run);
        result = train(&run);
    }
    if (result == 0) {
        result = finish(&run);
    }
    close_run(&run);
    return result;
}
