/* The program `train`: run.h says what it does, options.h which options it takes. */
#include "common/crash.h"
#include "common/files.h"
#include "common/lab.h"
#include "train/run.h"

int main(int argc, char **argv) {
    TrainOptions options;
    crash_tell();
    Comm *comm = comm_open();
    FILE *err = stderr;
    if (comm_rank(comm) > 0) { /* what it would say, rank 0 says */
        err = freopen("/dev/null", "w", stdout);
    }
    int status = 0;
    switch (options_parse(argc, argv, &options, stdout, err)) {
    case PARSE_HELP:
        break;
    case PARSE_ERROR:
        status = EXIT_USAGE;
        break;
    default:
        status = run_training(&options, comm);
    }
    comm_close(comm);
    return stdout_flush() != 0 && status == 0 ? EXIT_RUN : status;
}
