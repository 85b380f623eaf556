/* How long a recorded program takes on a declared machine:

       build/bin/makespan RECORD --machine machines/t4.json [--trace out.json] */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cudasim/clock/aside.h"
#include "cudasim/clock/makespan.h"
#include "cudasim/clock/memory.h"
#include "cudasim/clock/record_file.h"

typedef struct MakespanOptions {
    const char *record, *machine, *trace;
} MakespanOptions;

static int usage(const char *program, const char *wrong) {
    fprintf(stderr, "%s%susage: %s RECORD --machine FILE [--trace FILE]\n", wrong,
            *wrong != '\0' ? "; " : "", program);
    return 2;
}

static int read_options(int count, char **word, MakespanOptions *options) {
    for (int i = 1; i < count; i++) {
        const char **to = strcmp(word[i], "--machine") == 0 ? &options->machine
                          : strcmp(word[i], "--trace") == 0 ? &options->trace
                                                            : NULL;
        if (to == NULL && (word[i][0] == '-' || options->record != NULL)) {
            return usage(word[0], "one record, and no other option");
        }
        if (to == NULL) {
            options->record = word[i];
        } else if (i + 1 == count) {
            return usage(word[0], "the last option has no value");
        } else {
            *to = word[++i];
        }
    }
    bool good = options->record != NULL && options->machine != NULL;
    return good ? 0 : usage(word[0], "a record and a machine are needed");
}

static bool fails(const char *path) {
    fprintf(stderr, "%s: cannot write: %s\n", path, strerror(errno));
    return false;
}

static bool write_trace(const char *path, const CudasimRecord *record, const Span *spans,
                        const Machine *machine) {
    AsideFile aside;
    return (aside_begin(&aside, path) &&
            aside_end(&aside, makespan_trace(record, spans, machine, aside.file))) ||
           fails(path);
}

static int reckon(const MakespanOptions *options, const Machine *machine,
                  const CudasimRecord *record) {
    Makespan result;
    Span *spans = clock_new(record->count, sizeof *spans);
    int status = makespan(record, machine, spans, &result) ? 0 : 2;
    if (status == 0) {
        makespan_print(&result, record, machine, stdout);
        bool traced = options->trace == NULL || write_trace(options->trace, record, spans, machine);
        bool printed = fflush(stdout) == 0 || fails("standard output");
        status = traced && printed ? 0 : 1;
    }
    free(spans);
    return status;
}

int main(int count, char **word) {
    MakespanOptions options = {0};
    Machine machine;
    if (read_options(count, word, &options) != 0 || !machine_load(&machine, options.machine)) {
        return 2;
    }
    RecordFile *file = record_file_load(options.record);
    if (file == NULL) {
        return 2;
    }
    CudasimRecord record = record_file_entries(file);
    int status = reckon(&options, &machine, &record);
    record_file_free(file);
    return status;
}
