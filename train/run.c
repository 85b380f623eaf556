/* A training run from options to summary: opens everything, trains, saves, closes. The contract is
   in run.h; the loop over steps is in run_steps.c. */
#include "train/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/lab.h"
#include "common/text.h"
#include "common/weights.h"
#include "labs/00_bytes/contract.h"
#include "labs/04_checkpoint/contract.h"
#include "train/fit.h"
#include "train/labs.h"
#include "train/profile.h"
#include "train/rates.h"
#include "train/run_state.h"
#include "train/sample.h"
#include "train/techniques.h"
#include "train/timeline.h"
#include "train/unfinished.h"

static int wrong(const char *text) {
    fprintf(stderr, "train: %s\n", text);
    return EXIT_USAGE;
}

/* Fails early if a lab is missing; of several, names the latest,
   whose arrival enables the option. */
static int check_labs(const Run *run) {
    const TrainOptions *options = &run->options;
    bool gpu = options->device == DEVICE_GPU, fit = options->fit > 0;
    lab_need_for_options("06", options);
    if (fit) { /* for all plans, whichever it will be */
        lab_need("01", gpu);
    }
    lab_need_for_options("05", options);
    lab_need_for_options("04", options);
    if (!options->measure_only) {
        lab_need_for_options("03", options);
        lab_need(run_is_shared(run) || run_needs_windows(options) ? "03" : "01", gpu);
    }
    if (gpu) {
        lab_need("02", gpu);
    }
    lab_need("00", gpu);
    if (fit && run_is_shared(run)) {
        return wrong("--fit measures one machine: of several ranks each would choose another plan");
    }
    if (options->optim != OPTIM_ADAMW) {
        return wrong("needs lab 07 (07_optimizers is not here)");
    }
    return 0;
}

static int open_device(Run *run) {
    bool gpu = run->options.device == DEVICE_GPU;
    if (gpu) {
        comm_choose_gpu(run->comm);
    }
    run->device = gpu ? device_gpu_new(ops_gpu) : device_cpu_new(0);
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
            fprintf(stderr, "%s: no checkpoint-<step> to resume from\n", options->output_dir);
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
    char error[ERROR_BYTES];
    return options_check_model(options, error) == 0 ? 0 : wrong(error);
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
    data_share(run->data, comm_rank(run->comm), comm_size(run->comm));
    size_t k = (size_t)options->accumulation;
    double steps = (double)options->epochs * (double)((data_batches_left(run->data) + k - 1) / k);
    run->last_step = options->max_steps > 0 ? options->max_steps : (int)fmin(steps, INT32_MAX);
    return 0;
}

/* Bytes by kind at the peak, with B rows in a micro-batch. A window is done in micro-batches, each
   of which frees what it took: how many there are makes no difference. */
static MemoryUse predict(const Run *run, int B) {
    const TrainOptions *options = &run->options;
    const ModelConfig *config = &options->config;
    MemoryUse use = bytes_predict(config, B, options->T, run->device);
    if (options->checkpointing) {
        use.bytes[MEMORY_ACTIVATIONS] =
            checkpoint_bytes(config, B, options->T, options->checkpoint);
    }
    return use;
}

/* Settings of the loss scaler from the options, in place of its own. */
static void set_scaler(Mixed *mixed, const TrainOptions *options) {
    if (mixed->dynamic && options->scale_power > 0) {
        mixed->scaler.scale = ldexpf(1, options->scale_power);
    }
    if (mixed->dynamic && options->scale_window > 0) {
        mixed->scaler.interval = options->scale_window;
    }
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
    run->trainer.model->checkpoint = options->checkpoint;
    if (options->config.precision != F32) {
        mixed_init(&run->mixed, options->config.precision);
        set_scaler(&run->mixed, options);
        run->trainer.mixed = &run->mixed;
    }
    techniques_set(&run->trainer);
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
        optimizer_take_weights(run->trainer.optimizer);
    }
    return result == 0 ? 0 : EXIT_USAGE;
}

static size_t param_elements(const ModelConfig *config) {
    size_t elements = 0;
    Param *params = malloc((size_t)params_count(config) * sizeof *params);
    CHECK(params != NULL, "no memory for %d layers", config->L);
    params_describe(params, config);
    for (int i = 0; i < params_count(config); i++) {
        elements += params[i].count;
    }
    free(params);
    return elements;
}

static int open_report(Run *run, const char *folder) {
    const TrainOptions *options = &run->options;
    RunShape shape = {.config = options->config,
                      .B = data_batch_rows(run->data),
                      .T = options->T,
                      .K = options->accumulation,
                      .R = comm_size(run->comm),
                      .S = options->checkpoint.segment,
                      .P = param_elements(&options->config)};
    run->report = report_new(folder, options->metrics, run->first_step);
    if (run->report == NULL) {
        return EXIT_RUN;
    }
    report_shape(run->report, &shape);
    if (run_is_shared(run)) {
        report_in_lines(run->report);
    }
    return 0;
}

static int open_output(Run *run) {
    if (!run_speaks(run)) {
        run->options.output_dir = run->options.metrics = NULL;
    }
    const char *folder = run->options.output_dir;
    if (folder != NULL) {
        if (folder_make(folder) != 0) {
            return EXIT_USAGE;
        }
        snapshot_clean(folder);
    }
    return open_report(run, folder);
}

static void print_header(const Run *run) {
    const TrainOptions *options = &run->options;
    const ModelConfig *config = &options->config;
    int segment = options->checkpoint.segment;
    printf("Model:  %.2f M parameters (%d layers, %d heads, %d channels, vocabulary %d), %s, "
           "%s attention\n",
           1e-6 * (double)param_elements(config), config->L, config->NH, config->C, config->V,
           precision_name(config->precision),
           config->attention == ATTENTION_PLAIN ? "plain" : "flash");
    printf("Data:   %s, %zu bytes as %s of up to %d, %zu tokens an epoch\n", options->data,
           data_bytes(run->data), options->documents ? "documents" : "rows", options->T,
           data_epoch_tokens(run->data));
    printf("Memory: %.2f MiB predicted", memory_mib(memory_total(&run->predicted)));
    if (segment > 0) {
        printf("; backward runs blocks again, %d at a time", segment);
    }
    if (options->checkpoint.attention_only) {
        printf("%s", segment > 0 ? ", and of each attention's softmax"
                                 : "; backward runs attention's softmax again");
    }
    printf("\nRun:    %d updates of ", run->last_step - run->first_step);
    if (run_is_shared(run)) {
        printf("%d ranks x ", comm_size(run->comm));
    }
    if (options->accumulation > 1) {
        printf("%d x ", options->accumulation);
    }
    printf("%d sequences", options->B);
    if (run->resume_folder != NULL) {
        printf(", resumed from %s", run->resume_folder);
    }
    printf("\n");
    report_check_mode(run->device);
    printf("\n");
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
    printf("\nThe model continues \"%s\":\n\n%s", options->prompt, options->prompt);
    text_plain((char *)text, (size_t)options->generate, "\n\t");
    printf("%.*s\n", options->generate, (char *)text);
    free(text);
}

/* The number that lab 03 changes, beside what it was: the same window as one batch. */
static void print_at_once(const Run *run) {
    int micros = run->options.accumulation * comm_size(run->comm);
    int rows = data_batch_rows(run->data) * micros;
    if (micros > 1) {
        MemoryUse whole = predict(run, rows);
        printf("At once:         the same %d sequences as one batch would take %.2f MiB\n", rows,
               memory_mib(memory_total(&whole)));
    }
}

static int finish(Run *run) {
    const TrainOptions *options = &run->options;
    Summary summary = {
        .device = run->device,
        .seconds = run->train_seconds,
        .samples = run->samples,
        .peak = memory_peak(run->memory),
        .predicted = run->predicted,
        .has_prediction = run->windows > 0,
        .padding = memory_padding(run->memory),
        .overhead = device_overhead(run->device),
        .eval_loss = run_evaluate(run),
        .unigram_entropy = data_unigram_entropy(run->data),
        .first_loss = run->first_loss,
        .updates = run->updates,
        .skipped = run->windows - run->updates,
        .block_forwards = run->trainer.model->block_forwards,
    };
    int result = report_summary(run->report, &summary);
    print_at_once(run);
    write_timeline(run);
    if (options->profile && run->windows > 1) {
        profile_print(run->trainer.model, run->train_seconds - run->profile_began, run->windows - 1,
                      stdout);
    }
    if (options->profile &&
        rates_report(run->device, &options->config, options->B * options->accumulation * options->T,
                     options->output_dir) != 0) {
        result = EXIT_RUN;
    }
    if (options->generate > 0) {
        print_sample(run);
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

/* All of a training run that comes before its first step. */
static int begin(void *context) {
    Run *run = context;
    run->predicted = predict(run, data_batch_rows(run->data));
    build(run);
    int result = restore(run);
    if (result == 0) {
        result = open_output(run);
    }
    if (result == 0) {
        print_header(run);
    }
    return result;
}

/* The work itself, once it is known what there is to do and what it will take. */
static int train(Run *run) {
    int result = comm_in_turn(run->comm, begin, run);
    if (result == 0 && run_is_shared(run)) {
        result = comm_connect(run->comm, run->device) == 0 ? 0 : EXIT_USAGE;
        run->ranks =
            (Ranks){.comm = run->comm, .data = run->data, .micros = run->options.accumulation};
        ranks_join(&run->trainer, &run->ranks);
    }
    if (result == 0) {
        result = run_steps(run);
        if (result != 0 && run_is_shared(run) && run_speaks(run)) {
            comm_abandon(run->comm, result); /* the others wait for the next window */
        }
    }
    return result == 0 && run_speaks(run) ? finish(run) : result;
}

static int only_predict(void *context) {
    Run *run = context;
    run->predicted = predict(run, data_batch_rows(run->data));
    print_header(run);
    if (open_report(run, NULL) != 0 ||
        report_prediction(run->report, run->device, &run->predicted) != 0) {
        return EXIT_RUN;
    }
    return 0;
}

/* Without a loop: lab 00 needs no later lab. */
static int only_measure(void *context) {
    Run *run = context;
    const TrainOptions *options = &run->options;
    int B = data_batch_rows(run->data);
    MemoryUse counted;
    Trainer way = {0};
    techniques_set(&way);
    trainer_measure_as(&way, &options->config, options->checkpoint, B, options->T, run->device,
                       &counted);
    unfinished_show(&options->config, B, options->T, run->device, &counted);
    run->predicted = predict(run, data_batch_rows(run->data));
    print_header(run);
    if (open_report(run, NULL) != 0 ||
        report_measured(run->report, run->device, &counted, &run->predicted) != 0) {
        return EXIT_RUN;
    }
    if (options->budget > 0 && memory_total(&counted) > options->budget) {
        fprintf(stderr, "train: one step takes %zu bytes, more than --memory_budget: %zu bytes\n",
                memory_total(&counted), options->budget);
        return EXIT_RUN;
    }
    return 0;
}

/* Up to where it is known what there is to do. */
static int prepare(void *context) {
    Run *run = context;
    int result = check_labs(run);
    if (result == 0) {
        result = settle_config(run);
    }
    if (result == 0) {
        result = open_device(run);
    }
    if (result == 0) {
        result = fit_options(&run->options, run->device);
    }
    if (result == 0) {
        result = open_data(run);
    }
    return result;
}

int run_training(const TrainOptions *options, Comm *comm) {
    Run run = {.options = *options, .comm = comm};
    comm_set_timeout(comm, options->timeout);
    comm_set_order(comm, options->deterministic != 0);
    int result = comm_in_turn(comm, prepare, &run);
    if (result == 0) {
        result = options->measure_only   ? comm_in_turn(comm, only_measure, &run)
                 : options->predict_only ? comm_in_turn(comm, only_predict, &run)
                                         : train(&run);
    }
    close_run(&run);
    return result;
}
