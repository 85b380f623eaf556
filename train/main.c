/* The program `train`: run.h says what it does, options.h which options it takes. */
#include <stdio.h>

#include "common/crash.h"
#include "common/files.h"
#include "common/lab.h"
#include "common/own_data.h"
#include "train/run.h"

#if !defined WITH_MPI && !defined BACKEND_CUDA
#include <cudasim_ranks.h>
#include <cudasim_record.h>
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

enum { MOST_RANKS = 64 /* in which something is computed */ };

/* They take turns in this process, so each must have a stdout of its own. */
static void run_ranks(const Comm *comm, RankedRun *run) {
    (void)comm;
    if (run->options->ranks > MOST_RANKS && !cudasim_dry()) {
        fprintf(stderr,
                "train: --nproc_per_node %d: up to %d ranks train in one process; more only in a "
                "dry run (CUDASIM_DRY=1)\n",
                run->options->ranks, MOST_RANKS);
        run->status = EXIT_USAGE;
        return;
    }
    cudasim_rank_data(&stdout, sizeof stdout);
    if (!own_data_for_ranks()) {
        fprintf(stderr,
                "warning: the ranks share the static data of the labs' files: it is more "
                "than %d bytes, and not copied\n",
                OWN_DATA_MOST);
    }
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
