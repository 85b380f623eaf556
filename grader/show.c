/**
 * @file show.c
 * @brief `record FILE`: shows a record again, or writes it as JUnit XML.
 * @ingroup grader
 */
#include <stdio.h>
#include <string.h>

#include "common/files.h"
#include "common/lab.h"
#include "grader/record.h"
#include "grader/record_read.h"

int main(int argc, char **argv) {
    bool junit = argc == 4 && strcmp(argv[2], "--junit") == 0;
    if (argc != 2 && !junit) {
        fprintf(stderr, "usage: %s RECORD [--junit FILE]\n", argv[0]);
        return EXIT_USAGE;
    }
    json_t *record = record_read(argv[1]);
    if (record == NULL) {
        return EXIT_RUN;
    }
    bool good = true;
    if (junit) {
        good = record_write_junit(record, argv[3]);
    } else {
        record_print(record, stdout);
        good = stdout_flush() == 0;
    }
    json_decref(record);
    return good ? 0 : EXIT_RUN;
}
