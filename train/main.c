/* The program `train`: run.h says what it does, options.h which options it takes. */
#include <stdio.h>

#include "common/crash.h"
#include "common/files.h"
#include "common/lab.h"
#include "train/run.h"

#if !defined WITH_MPI && !defined BACKEND_CUDA
#include <cudasim_ranks.h>
#endif

/* A run, and its exit status. */
typedef struct RankedRun {
    const TrainOptions *options;
    int status;
} RankedRun;

/* Rank 0 says what there is to say. */
static void silence(const Comm *comm) {
    if (comm_rank(comm) > 0) {
        FILE *nowhere = fopen("/dev/null", "w");
        CHECK(nowhere != NULL, "cannot open /dev/null");
        stdout = nowhere;
    }
}

#if defined WITH_MPI || defined BACKEND_CUDA
static void run_ranks(const Comm *comm, RankedRun *run) {
    if (comm_rank(comm) == 0) {
        fprintf(stderr, "train: --nproc_per_node: mpirun starts the ranks of this build\n");
    }
    run->status = EXIT_USAGE;
}
#else
static void run_rank(int number, void *context) {
    (void)number;
    RankedRun *run = context;
    Comm *comm = comm_open();
    silence(comm);
    int status = run_training(run->options, comm);
    run->status = run->status == 0 ? status : run->status;
    comm_close(comm);
}

/* They take turns in this process, so each must have a stdout of its own. */
static void run_ranks(const Comm *comm, RankedRun *run) {
    (void)comm;
    cudasim_rank_data(&stdout, sizeof stdout);
    cudasim_ranks_run(run->options->ranks, run_rank, run);
}
#endif

int main(int argc, char **argv) {
    TrainOptions options;
    RankedRun run = {.options = &options};
    crash_tell();
    Comm *comm = comm_open();
    silence(comm);
    switch (options_parse(argc, argv, &options, stdout, comm_rank(comm) == 0 ? stderr : stdout)) {
    case PARSE_HELP:
        break;
    case PARSE_ERROR:
        run.status = EXIT_USAGE;
        break;
    default:
        if (options.ranks > 1) {
            run_ranks(comm, &run);
        } else {
            run.status = run_training(&options, comm);
        }
    }
    comm_close(comm);
    return stdout_flush() != 0 && run.status == 0 ? EXIT_RUN : run.status;
}
