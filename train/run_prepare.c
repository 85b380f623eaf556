/* Up to where it is known what a run has to do: labs, shape, device, plan, text. The contract is in
   run_state.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/lab.h"
#include "common/weights.h"
#include "train/adapters.h"
#include "train/fit.h"
#include "train/labs.h"
#include "train/run_state.h"

static int wrong(const char *text) {
    fprintf(stderr, "train: %s\n", text);
    return EXIT_USAGE;
}

/* Fails early if a lab is missing; of several, names the latest,
   whose arrival enables the option. */
static int check_labs(const Run *run) {
    const TrainOptions *options = &run->options;
    bool gpu = options->device == DEVICE_GPU, fit = options->fit > 0;
    lab_need_for_options("07", options);
    lab_need_for_options("08", options);
    lab_need_for_options("09", options);
    lab_need_for_options("11", options);
    lab_need_for_options("10", options);
    lab_need_for_options("12", options);
    lab_need_for_options("13", options);
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
    if (comm_size(run->comm) > options->pipeline * options->tensor) { /* who reads what */
        lab_need("11", gpu);
    }
    lab_need_for_options("14", options);
    if (fit && run_is_shared(run)) { /* mpirun has started them */
        return wrong("--fit needs a single rank: each would choose another plan");
    }
    if (options->cuda_graph && run_is_shared(run)) {
        return wrong(
            "--cuda_graph needs a single rank: what ranks send each other is not captured");
    }
    return 0;
}

static int open_device(Run *run) {
    bool gpu = run->options.device == DEVICE_GPU;
    if (run->options.check_launches) {
        device_gpu_wait_for_launches();
    }
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
    const char *lacks = device_lacks(run->device, run->options.bf16 ? BF16 : F32);
    if (lacks != NULL) {
        fprintf(stderr, "train: --bf16: this GPU lacks %s: --fp16 runs on it\n", lacks);
        return EXIT_USAGE;
    }
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
    if (adapters_settle(options, run->resume_folder) != 0) {
        return EXIT_USAGE;
    }
    if (options->T == 0) {
        options->T = options->config.T;
    }
    char error[ERROR_BYTES];
    bool good =
        options_check_model(options, error) == 0 &&
        grid_settle(&run->grid, options, comm_rank(run->comm), comm_size(run->comm), error) == 0;
    run->way = way_of(run);
    return good ? 0 : wrong(error);
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
    ranks_share(run->data, &run->grid);
    size_t k = (size_t)options->accumulation;
    double steps = (double)options->epochs * (double)((data_batches_left(run->data) + k - 1) / k);
    run->last_step = options->max_steps > 0 ? options->max_steps : (int)fmin(steps, INT32_MAX);
    return 0;
}

int run_prepare(void *context) {
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
