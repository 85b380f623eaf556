/* The program `train`: run.h says what it does, options.h which options it takes. */
#include "common/crash.h"
#include "common/files.h"
#include "common/lab.h"
#include "train/run.h"

int main(int argc, char **argv) {
    TrainOptions options;
    crash_tell();
    int status = 0;
    switch (options_parse(argc, argv, &options, stdout, stderr)) {
    case PARSE_HELP:
        break;
    case PARSE_ERROR:
        return EXIT_USAGE;
    default:
        status = run_training(&options);
    }
    return stdout_flush() != 0 && status == 0 ? EXIT_RUN : status;
}
