/* The program `train`; run.h has what it does, options.h what it can be told. */
#include "common/lab.h"
#include "common/run.h"

int main(int argc, char **argv) {
    TrainOptions options;
    switch (options_parse(argc, argv, &options, stdout, stderr)) {
    case PARSE_HELP:
        return 0;
    case PARSE_ERROR:
        return EXIT_USAGE;
    default:
        return run_training(&options);
    }
}
