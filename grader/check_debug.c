/* A run of a probe that is left for a debugger. The contracts are in check_state.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grader/check_state.h"
#include "grader/command.h"
#include "kernels/base.h"

enum { PATH = 4096 };

const char *check_program_of(const char *probe, const char *probe_case, char *program, int size) {
    const char *slash = strchr(probe_case, '/');
    int length = slash != NULL ? (int)(slash - probe_case) : 0;
    int written = snprintf(program, (size_t)size, "%s%s%.*s", probe, length > 0 ? "_" : "", length,
                           probe_case);
    CHECK(written < size, "the path of a probe is too long");
    return slash != NULL ? slash + 1 : probe_case;
}

bool check_is_for_debugger(const Check *check) {
    const char *wanted = getenv("GRADE_RUN");
    return check->runs == (wanted != NULL ? atoi(wanted) : 1);
}

/* The debugger is started with the program that runs beside the probe. */
static void debug_beside(const Check *check, const char *path, FILE *command) {
    fprintf(command, "exec ");
    command_quote(command, check->beside->starter);
    fprintf(command, " ");
    command_quote(command, check->beside->program);
    fprintf(command, " ");
    command_quote(command, path);
    fprintf(command, " ");
}

bool check_leave_for_debugger(Check *check, const char *path, const char *probe_case) {
    const struct {
        const char *name;
        const Wire *wire;
    } tables[] = {{"in", check->in}, {"out", check->out}};
    char name[PATH], program[PATH];
    const char *its_case = check_program_of("/probe", probe_case, program, PATH);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", path, tables[i].name);
        CHECK(wire_save(tables[i].wire, name), "cannot write %s", name);
    }
    snprintf(name, sizeof name, "%s/command", path);
    FILE *command = fopen(name, "w");
    CHECK(command != NULL, "cannot write %s", name);
    for (int i = 0; i < check->settings; i++) {
        fprintf(command, "export %s\n", check->setting[i]);
    }
    fprintf(command, "export DEBUGINFOD_URLS=\n");
    if (check->beside != NULL) {
        debug_beside(check, path, command);
    }
    /* Through pipes, for gdb repeats each setting: the first words are tools/debug.py's. */
    fprintf(command,
            "%sgdb -q -iex 'set print symbol-loading off' -iex 'set print thread-events off' "
            "-iex 'set debug-file-directory' "
            "-ex \"set directories $SOURCE:\\$cdir:\\$cwd\" "
            "-ex 'pipe handle SIGSEGV nostop noprint pass | cat >/dev/null' "
            "-ex 'pipe break crash_told | cat >/dev/null' --args ",
            check->beside != NULL ? "" : "exec ");
    command_quote(command, path);
    fprintf(command, "%s %s 3<", program, its_case);
    command_quote(command, path);
    fprintf(command, "/in 4<>");
    command_quote(command, path);
    fprintf(command, "/out 5>/dev/null\n");
    fclose(command);
    return check_conclude(check, ROW_NOT_RUN, "left for the debugger");
}
