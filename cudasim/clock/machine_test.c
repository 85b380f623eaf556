/* Machines, and records as files: what is read is what was written, and what is wrong is named. */
#include "cudasim/clock/machine.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/scratch.h"
#include "cudasim/clock/record_file.h"

static const char *file_of(const char *text) {
    return scratch_file("file", text, strlen(text));
}

/* ---- machines -------------------------------------------------------------------------------- */

Test(machine, those_of_the_kit_are_good) {
    static const char *const names[] = {"t4", "a100", "h100", "laptop"};
    for (int i = 0; i < 4; i++) {
        char path[100];
        Machine machine;
        snprintf(path, sizeof path, "machines/%s.json", names[i]);
        cr_assert(machine_load(&machine, path), "%s", path);
        cr_assert(machine.memory >= 256e9 && machine.f16 >= machine.f32 &&
                  machine.link >= machine.network);
    }
}

Test(machine, numbers_have_their_units) {
    Machine t4;
    cr_assert(machine_load(&t4, "machines/t4.json"));
    cr_assert(strcmp(t4.name, "NVIDIA T4") == 0 && t4.memory == 320e9 && t4.f32 == 8.1e12 &&
              t4.f16 == 65e12 && t4.to_device == 16e9 && t4.launch == 3e-6 && t4.kernels == 128 &&
              t4.copy_engines == 2 && t4.node == 4);
}

static char *read_text(const char *path) {
    static char text[1 << 14];
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* The T4's file with one piece of text replaced. */
static const char *t4_with(const char *old, const char *new) {
    static char changed[1 << 15];
    const char *text = read_text("machines/t4.json"), *at = strstr(text, old);
    cr_assert(at != NULL, "%s", old);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    return file_of(changed);
}

Test(machine, what_is_wrong_is_named, .init = cr_redirect_stderr, .fini = scratch_remove) {
    static const struct {
        const char *old, *new, *says;
    } mistakes[] = {
        {"\"memory\"", "\"memorry\"", "\"memorry\" is not a key of a machine"},
        {"\"value\": 320", "\"value\": -1", "\"memory\" is -1; it must be a number from 0.001"},
        {"\"value\": 320", "\"value\": \"320\"", "\"memory\" is not {\"value\": number"},
        {"\"value\": 320, \"unit\": \"GB/s\"", "\"value\": 320, \"unit\": \"GiB/s\"",
         "\"memory\" has the unit \"GiB/s\"; it must be \"GB/s\""},
        {"\"value\": 128", "\"value\": 1.5", "\"kernels\" is 1.5; it must be a whole number"},
        {"\"name\": \"NVIDIA T4\",", "", "\"name\" is missing"},
        {"NVIDIA T4\",", "NVIDIA T4\", \"name\": 1,", "duplicate object key"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        Machine machine = {.memory = 7};
        cr_assert(!machine_load(&machine, t4_with(mistakes[i].old, mistakes[i].new)));
        cr_assert(machine.memory == 7, "it was changed");
    }
    Machine machine;
    cr_assert(!machine_load(&machine, file_of("[1]")));
    cr_assert(!machine_load(&machine, file_of("{\"name\": \"x\"}")));
    cr_assert(!machine_load(&machine, "machines/none.json"));
    fflush(stderr);
    char said[4000] = "";
    FILE *errors = cr_get_redirected_stderr();
    size_t length = fread(said, 1, sizeof said - 1, errors);
    said[length] = '\0';
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        cr_assert(strstr(said, mistakes[i].says) != NULL, "%s: not in: %s", mistakes[i].says, said);
    }
    cr_assert(strstr(said, "\"memory\" is missing") != NULL && strstr(said, "not a JSON object"));
}

/* ---- records --------------------------------------------------------------------------------- */

static const uint64_t one_and_two[] = {1, 2}, some_clock[] = {3, 0, 5};

static const CudasimEntry entries[] = {
    {.id = 1,
     .kind = CUDASIM_LAUNCH,
     .name = "scale",
     .op = "gelu",
     .file = "my.cu",
     .line = 12,
     .device = 1,
     .stream = 3,
     .number = 1,
     .clock = some_clock,
     .clock_count = 3,
     .bytes = 1.5,
     .flops = 2e15,
     .precision = CUDASIM_BF16,
     .read = 64,
     .written = 32,
     .grid = {1, 2, 3},
     .block = {4, 5, 6}},
    {.id = 2,
     .kind = CUDASIM_COPY,
     .name = "cudaMemcpyPeer",
     .way = CUDASIM_BETWEEN_DEVICES,
     .peer = 4,
     .bytes = 1e9,
     .read = -1,
     .written = -1},
    {.id = 3,
     .kind = CUDASIM_COLLECTIVE,
     .name = "ncclSend",
     .rank = 2,
     .after = one_and_two,
     .after_count = 2,
     .read = -1,
     .written = -1,
     .collective = CUDASIM_SEND,
     .communicator = 7,
     .call = 8,
     .group = 9,
     .ranks = 4,
     .comm_rank = 3,
     .peer = 1},
    {.id = 4,
     .kind = CUDASIM_HOST_WAIT,
     .name = "cudaDeviceSynchronize",
     .stream = -1,
     .read = -1,
     .written = -1},
};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

/* The text of a record as a file. */
static char *written(CudasimRecord record) {
    const char *name = scratch_path("record");
    FILE *file = fopen(name, "w");
    cr_assert(file != NULL && record_file_write(&record, file) && fclose(file) == 0);
    return strdup(read_text(name));
}

Test(record_file, what_is_read_is_what_was_written, .fini = scratch_remove) {
    char *text = written((CudasimRecord){entries, ENTRIES});
    cr_assert(strstr(text, "{\"id\":1,\"kind\":\"launch\",\"name\":\"scale\",\"op\":\"gelu\","
                           "\"file\":\"my.cu\",\"line\":12,\"rank\":0,\"device\":1,\"stream\":3,"
                           "\"number\":1,\"after\":[],\"clock\":[3,0,5],\"bytes\":1.5,"
                           "\"flops\":2000000000000000,\"precision\":\"bf16\",\"read\":64,"
                           "\"written\":32,\"grid\":[1,2,3],\"block\":[4,5,6]}\n") == text);
    cr_assert(strstr(text, "\"collective\":\"send\",\"communicator\":7,\"call\":8,\"ranks\":4,"
                           "\"comm_rank\":3,\"group\":9,\"peer\":1}\n") != NULL);
    RecordFile *loaded = record_file_load(file_of(text));
    cr_assert(loaded != NULL);
    CudasimRecord record = record_file_entries(loaded);
    cr_assert(record.count == ENTRIES && record.entry[1].read == -1 &&
              record.entry[3].stream == -1);
    char *again = written(record);
    cr_assert(strcmp(text, again) == 0, "%s", again);
    record_file_free(loaded);
    free(text);
    free(again);
}

Test(record_file, what_is_wrong_is_named, .init = cr_redirect_stderr, .fini = scratch_remove) {
    static const char *const good = "{\"id\":1,\"kind\":\"event\",\"name\":\"e\",\"rank\":0,"
                                    "\"device\":0,\"stream\":0,\"number\":1,\"after\":[]}";
    static const struct {
        const char *old, *new, *says;
    } mistakes[] = {
        {"\"id\":1", "\"id\":2", ":1: \"id\" is missing or wrong"},
        {"\"event\"", "\"evnt\"", ":1: \"kind\" is missing or wrong"},
        {"\"name\":\"e\",", "", ":1: \"name\" is missing or wrong"},
        {"\"rank\":0", "\"rank\":-1", ":1: \"rank\" is missing or wrong"},
        {"\"device\":0", "\"device\":0.5", ":1: \"device\" is missing or wrong"},
        {"\"stream\":0,", "", ":1: \"stream\" is missing or wrong"},
        {"[]", "[1]", ":1: \"after\" is missing or wrong"},
        {"}", "", ":1: '}' expected"},
    };
    char text[500];
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *at = strstr(good, mistakes[i].old);
        snprintf(text, sizeof text, "%.*s%s%s\n", (int)(at - good), good, mistakes[i].new,
                 at + strlen(mistakes[i].old));
        cr_assert(record_file_load(file_of(text)) == NULL, "%s", text);
    }
    cr_assert(record_file_load(file_of("")) == NULL && record_file_load("/nonexistent") == NULL);
    fflush(stderr);
    char said[4000] = "";
    size_t length = fread(said, 1, sizeof said - 1, cr_get_redirected_stderr());
    said[length] = '\0';
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        cr_assert(strstr(said, mistakes[i].says) != NULL, "%s: not in: %s", mistakes[i].says, said);
    }
    cr_assert(strstr(said, "no entries") != NULL);
}
