/* A training run from options to summary: builds everything, trains, saves, closes. The contract is
   in run.h; what comes before is in run_prepare.c, the loop over steps in run_steps.c. */
#include "train/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/files.h"
#include "common/lab.h"
#include "labs/00_bytes/contract.h"
#include "labs/04_checkpoint/contract.h"
#include "labs/07_optimizers/contract.h"
#include "train/adapters.h"
#include "train/fused.h"
#include "train/run_state.h"
#include "train/techniques.h"
#include "train/unfinished.h"

/* A window is done in micro-batches, each of which frees what it took: how many there are makes no
   difference. */
MemoryUse run_predict(const Run *run, int B) {
    const TrainOptions *options = &run->options;
    const ModelConfig *config = &options->config;
    MemoryUse use = bytes_predict(config, B, options->T, run->device);
    if (config->adapter.rank > 0) {
        adapters_predict(config, B, options->T, options->checkpoint, (Optim)options->optim, &use);
    } else if (options->offload) {
        use.bytes[MEMORY_ACTIVATIONS] =
            offload_bytes(config, B, options->T, options->checkpoint.segment);
    } else if (options->checkpointing) {
        use.bytes[MEMORY_ACTIVATIONS] =
            checkpoint_bytes(config, B, options->T, options->checkpoint);
    }
    if (options->fused_head) {
        use.bytes[MEMORY_ACTIVATIONS] =
            fused_activations(config, B, options->T, options->checkpoint);
    }
    if (options->optim != OPTIM_ADAMW && config->adapter.rank == 0) {
        use.bytes[MEMORY_OPTIMIZER] = optim_bytes(config, (Optim)options->optim);
    }
    if (options->workers > 0) {
        use.bytes[MEMORY_DATA] = prefetch_bytes(options->workers + 1, B, options->T);
    }
    return run->way->predict(run, use, B);
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
                            .checked = !options->cuda_graph &&
                                       (options->check || memory_checked_by_default())};
    AdamW adamw = {.beta1 = (float)options->beta1,
                   .beta2 = (float)options->beta2,
                   .epsilon = (float)options->epsilon,
                   .weight_decay = (float)options->weight_decay};
    run->memory = memory_new(run->device, memory);
    run->way->open(run);
    run->trainer.model->checkpoint = options->checkpoint;
    adapters_begin(run->trainer.model, (uint64_t)options->seed);
    if (options->fused_norm || options->fused_head) {
        fused_set(run->trainer.model, options->fused_norm, options->fused_head);
    }
    if (options->config.precision != F32) {
        mixed_init(&run->mixed, options->config.precision);
        set_scaler(&run->mixed, options);
        run->trainer.mixed = &run->mixed;
    }
    if (options->offload) {
        run->trainer.offload = offload_open(&options->config, data_batch_rows(run->data),
                                            options->T, options->checkpoint.segment);
    }
    techniques_set(&run->trainer);
    run->way->join(run);
    run->trainer.optimizer = optimizer_new_as(shards_learns(&run->trainer), adamw,
                                              techniques_rule((Optim)options->optim));
    run->trainer.max_grad_norm = (float)options->max_grad_norm;
    run->trainer.schedule = (Schedule){.decay = (Decay)options->decay,
                                       .learning_rate = (float)options->learning_rate,
                                       .warmup_steps = options->warmup_steps,
                                       .max_steps = run->last_step};
    if (options->workers > 0) {
        run->ahead = ahead_open(run->data, run->memory, options);
    }
    run->way->settle(run);
    run->snapshot = (Snapshot){.trainer = run->way->whole(run), .data = run->data};
    adapters_save_with(&run->snapshot);
}

static int restore(Run *run) {
    int result = 0;
    Trainer *whole = run->way->whole(run);
    if (run->resume_folder != NULL) {
        result = run->way->load(run, run->resume_folder);
        run->first_step = whole->schedule.step;
    } else if (run->options.model != NULL) {
        char *path = path_join(run->options.model, "model.safetensors");
        result = run->way->load_weights(run, path);
        free(path);
    }
    if (result == 0 && run->options.adapter != NULL) {
        result = adapters_load(run->trainer.model, run->options.adapter);
    }
    if (run->resume_folder == NULL) {
        optimizer_take_weights(whole->optimizer);
    }
    if (result == 0) {
        run->way->restored(run);
    }
    return result == 0 ? 0 : EXIT_USAGE;
}

static int open_report(Run *run, const char *folder) {
    const TrainOptions *options = &run->options;
    RunShape shape = {.config = options->config,
                      .B = data_batch_rows(run->data),
                      .T = options->T,
                      .K = options->accumulation,
                      .R = comm_size(run->comm),
                      .S = options->checkpoint.segment,
                      .P = run_elements(&options->config)};
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
    run->saves = run->options.output_dir != NULL;
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

static void close_run(Run *run) {
    report_free(run->report);
    ranks_leave(&run->trainer, &run->ranks);
    ahead_close(run->ahead, run->data);
    if (run->trainer.offload != NULL) {
        offload_close(run->trainer.offload);
    }
    graphed_free(run->graph);
    optimizer_free(run->trainer.optimizer);
    if (run->trainer.model != NULL) {
        run->way->close(run);
    }
    model_free(run->trainer.model);
    memory_free(run->memory);
    data_free(run->data);
    device_free(run->device);
    free(run->resume_folder);
    free(run->of_ranks);
}

/* All of a training run that comes before its first step. */
static int begin(void *context) {
    Run *run = context;
    run->predicted = run_predict(run, data_batch_rows(run->data));
    build(run);
    int result = restore(run);
    if (result == 0) {
        result = open_output(run);
    }
    if (result == 0) {
        run_print_header(run);
    }
    return result;
}

static int connect_ranks(Run *run) {
    int result = comm_connect(run->comm, run->device) == 0 ? 0 : EXIT_USAGE;
    if (result == 0) {
        grid_connect(&run->grid, run->comm);
    }
    return result;
}

/* In the text that rank 0 prints. */
static void take_part(Run *run) {
    Rng rng = rng_new((uint64_t)run->options.seed, RNG_SAMPLE);
    unsigned char none;
    run->way->sample(run, 0, &rng, &none);
}

/* The work itself, once it is known what there is to do and what it will take. */
static int train(Run *run) {
    int result = run_is_shared(run) ? connect_ranks(run) : 0;
    if (result == 0) {
        result = comm_in_turn(run->comm, begin, run);
    }
    if (result == 0 && run_is_shared(run)) {
        run->ranks = (Ranks){.comm = run->comm,
                             .grid = &run->grid,
                             .data = run->data,
                             .micros = run->options.accumulation,
                             .bucket_bytes = run->options.ddp ? run->options.bucket : 0};
        ranks_join(&run->trainer, &run->ranks);
    }
    if (result == 0) {
        result = run_steps(run);
        if (result != 0 && run_is_shared(run) && run_speaks(run)) {
            comm_abandon(run->comm, result); /* the others wait for the next window */
        }
    }
    if (result == 0 && run_is_shared(run)) {
        run_gather(run);
        run->way->gather(run);
    }
    if (result == 0 && run_evaluates(run)) {
        run->eval_loss = run->way->evaluate(run);
    }
    if (result == 0 && !run_speaks(run) && run->options.generate > 0) {
        take_part(run);
    }
    return result == 0 && run_speaks(run) ? run_finish(run) : result;
}

static int show_prediction(void *context) {
    Run *run = context;
    run_print_header(run);
    bool shown =
        open_report(run, NULL) == 0 &&
        report_prediction(run->report, run->device, run->of_ranks, comm_size(run->comm)) == 0;
    return shown ? 0 : EXIT_RUN;
}

static int only_predict(Run *run) {
    run->predicted = run_predict(run, data_batch_rows(run->data));
    run_gather_predicted(run);
    return comm_in_turn(run->comm, show_prediction, run);
}

/* Without a loop: lab 00 needs no later lab. */
static int only_measure(void *context) {
    Run *run = context;
    const TrainOptions *options = &run->options;
    int B = data_batch_rows(run->data);
    MemoryUse counted;
    Model parts = {0};
    Trainer way = {.model = &parts};
    fused_set(&parts, options->fused_norm, options->fused_head);
    if (options->offload) {
        run->trainer.offload = way.offload =
            offload_open(&options->config, B, options->T, options->checkpoint.segment);
    }
    techniques_set(&way);
    way.rule = techniques_rule((Optim)options->optim);
    trainer_measure_as(&way, &options->config, options->checkpoint, B, options->T, run->device,
                       &counted);
    if (options->config.adapter.rank == 0) {
        unfinished_show(&options->config, B, options->T, run->device, &counted);
    }
    run->predicted = run_predict(run, data_batch_rows(run->data));
    run_print_header(run);
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

int run_training(const TrainOptions *options, Comm *comm) {
    Run run = {.options = *options, .comm = comm};
    comm_set_timeout(comm, options->timeout);
    comm_set_order(comm, options->deterministic != 0);
    int result = comm_in_turn(comm, run_prepare, &run);
    if (result == 0) {
        result = options->measure_only   ? comm_in_turn(comm, only_measure, &run)
                 : options->predict_only ? only_predict(&run)
                                         : train(&run);
    }
    close_run(&run);
    return result;
}
