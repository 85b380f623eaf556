/* A run saved to a folder `checkpoint-N/`, and read back bit for bit. The contract is in
   snapshot.h; the model's own two files are those of weights.h. */
#define _GNU_SOURCE /* renameat2 */
#include "common/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/weights.h"

static const char *const PREFIX = "checkpoint-";
/* Folders under this name are being written, or were when their writer died. */
static const char *const UNFINISHED = ".unfinished-checkpoint";

/* JSON's numbers do not hold 64 unsigned bits. */
static json_t *hex(uint64_t value) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    return json_string(text);
}

static bool read_hex(const json_t *json, const char *key, uint64_t *value) {
    const char *text = json_string_value(json_object_get(json, key));
    char *end = NULL;
    if (text == NULL || strlen(text) != 16) {
        return false;
    }
    *value = strtoull(text, &end, 16);
    return *end == '\0';
}

/* The loss scaler's place: {"scale": 65536.0, "good_steps": 17}; null with weights in float. Its
   other numbers are settings. */
static json_t *scaler_json(const Trainer *trainer) {
    if (trainer->mixed == NULL) {
        return json_null();
    }
    const Scaler *scaler = &trainer->mixed->scaler;
    return json_pack("{s:f, s:i}", "scale", (double)scaler->scale, "good_steps",
                     scaler->good_steps);
}

static bool read_scaler(const json_t *json, Scaler *scaler) {
    double scale = json_real_value(json_object_get(json, "scale"));
    json_int_t good_steps = json_integer_value(json_object_get(json, "good_steps"));
    if (!(scale > 0 && scale <= (double)FLT_MAX) || good_steps < 0 || good_steps > INT32_MAX) {
        return false;
    }
    scaler->scale = (float)scale;
    scaler->good_steps = (int)good_steps;
    return true;
}

static const char *precision_of(const Trainer *trainer) {
    return precision_name(trainer->model->config.precision);
}

static int save_state(const Snapshot *snapshot, const char *path) {
    const Trainer *trainer = snapshot->trainer;
    DataPosition position = data_position(snapshot->data);
    FILE *file = file_begin(path);
    if (file == NULL) {
        return -1;
    }
    json_t *json =
        json_pack("{s:s, s:i, s:s, s:o, s:{s:o, s:o, s:o}, s:{s:o, s:o, s:o}, s:f, s:I}", "format",
                  "gradus 1", "step", trainer->schedule.step, "precision", precision_of(trainer),
                  "scaler", scaler_json(trainer), "rng", "seed", hex(trainer->model->rng.seed),
                  "stream", hex(trainer->model->rng.stream), "offset",
                  hex(trainer->model->rng.offset), "data", "epoch", hex(position.epoch), "row",
                  hex(position.row), "fingerprint", hex(data_fingerprint(snapshot->data)),
                  "loss_sum", snapshot->loss_sum, "loss_tokens", (json_int_t)snapshot->loss_tokens);
    CHECK(json != NULL, "no memory for a state");
    json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(json);
    fputc('\n', file);
    return file_end(file, path, true);
}

static int save_file(const Snapshot *snapshot, const char *folder, int which) {
    static const char *const names[] = {"config.json", "model.safetensors", "optimizer.safetensors",
                                        "trainer_state.json"};
    char *path = path_join(folder, names[which]);
    const Trainer *trainer = snapshot->trainer;
    int result = which == 0   ? config_save(&trainer->model->config, path)
                 : which == 1 ? weights_save(trainer->model, path)
                 : which == 2 ? optimizer_save(trainer->optimizer, path)
                              : save_state(snapshot, path);
    free(path);
    return result;
}

static int write_folder(const Snapshot *snapshot, const char *folder) {
    if (tree_remove(folder) != 0 || folder_make(folder) != 0) {
        return -1;
    }
    for (int which = 0; which < 4; which++) {
        if (save_file(snapshot, folder, which) != 0) {
            return -1;
        }
    }
    if (snapshot->save_more != NULL && snapshot->save_more(snapshot->trainer->model, folder) != 0) {
        return -1;
    }
    return path_sync(folder);
}

/* Gives the folder `from` the name `to`. A folder that has the name already is exchanged for it in
   the same moment where the system can do that, and then stands at `from`. */
static int take_name(const char *from, const char *to) {
    struct stat status;
    if (rename(from, to) == 0) {
        return 0;
    }
    if (lstat(to, &status) == 0 && !S_ISDIR(status.st_mode)) {
        errno = ENOTDIR; /* a file of the user's: not ours to remove */
        return file_error(to, "cannot give the finished checkpoint this name");
    }
#ifdef RENAME_EXCHANGE
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) {
        return 0;
    }
#endif
    if (tree_remove(to) == 0 && rename(from, to) == 0) {
        return 0;
    }
    return file_error(to, "cannot give the finished checkpoint this name");
}

/* The step in a folder's name, or -1. */
static long step_of(const char *name) {
    size_t length = strlen(PREFIX);
    if (strncmp(name, PREFIX, length) != 0 || name[length] == '\0') {
        return -1;
    }
    char *end;
    errno = 0;
    long step = strtol(name + length, &end, 10);
    return *end == '\0' && step >= 0 && errno == 0 ? step : -1;
}

/* Steps of all checkpoints in a folder, in order; *count of them. To be freed. */
static long *steps_in(const char *output_dir, size_t *count) {
    long *steps = NULL;
    *count = 0;
    DIR *folder = opendir(output_dir);
    if (folder == NULL) {
        return NULL;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        long step = step_of(entry->d_name);
        if (step < 0) {
            continue;
        }
        steps = realloc(steps, (*count + 1) * sizeof *steps);
        CHECK(steps != NULL, "no memory for %zu numbers", *count + 1);
        size_t at = (*count)++;
        for (; at > 0 && steps[at - 1] > step; at--) {
            steps[at] = steps[at - 1];
        }
        steps[at] = step;
    }
    closedir(folder);
    return steps;
}

static char *folder_of(const char *output_dir, long step) {
    char name[48];
    snprintf(name, sizeof name, "%s%ld", PREFIX, step);
    return path_join(output_dir, name);
}

static void remove_oldest(const char *output_dir, int limit, long newest) {
    size_t count;
    long *steps = steps_in(output_dir, &count);
    for (size_t i = 0; limit > 0 && count > (size_t)limit && i < count - (size_t)limit; i++) {
        if (steps[i] != newest) {
            char *folder = folder_of(output_dir, steps[i]);
            if (tree_remove(folder) != 0) {
                file_error(folder, "cannot remove an old checkpoint");
            }
            free(folder);
        }
    }
    free(steps);
}

int snapshot_save(const Snapshot *snapshot, const char *output_dir, int limit) {
    int step = snapshot->trainer->schedule.step;
    char *folder = folder_of(output_dir, step);
    char *unfinished = path_join(output_dir, UNFINISHED);
    int result = write_folder(snapshot, unfinished);
    if (result == 0) {
        result = take_name(unfinished, folder);
    }
    if (result == 0) {
        result = path_sync(output_dir);
    }
    tree_remove(unfinished);
    if (result == 0) {
        remove_oldest(output_dir, limit, step);
    }
    free(folder);
    free(unfinished);
    return result;
}

char *snapshot_latest(const char *output_dir) {
    size_t count;
    long *steps = steps_in(output_dir, &count);
    char *folder = count > 0 ? folder_of(output_dir, steps[count - 1]) : NULL;
    free(steps);
    return folder;
}

void snapshot_clean(const char *output_dir) {
    char *unfinished = path_join(output_dir, UNFINISHED);
    tree_remove(unfinished);
    free(unfinished);
}

static bool read_state(Snapshot *snapshot, const json_t *json, const char **why) {
    Trainer *trainer = snapshot->trainer;
    const char *format = json_string_value(json_object_get(json, "format"));
    const json_t *rng = json_object_get(json, "rng"), *data = json_object_get(json, "data");
    json_int_t step = json_integer_value(json_object_get(json, "step"));
    json_int_t tokens = json_integer_value(json_object_get(json, "loss_tokens"));
    const json_t *saved = json_object_get(json, "precision");
    const char *precision = saved == NULL ? "f32" : json_string_value(saved);
    Mixed *mixed = trainer->mixed;
    Scaler scaler = mixed != NULL ? mixed->scaler : (Scaler){0};
    Rng stream;
    DataPosition position;
    uint64_t fingerprint;
    *why = "not a trainer state of this kit";
    if (format == NULL || strcmp(format, "gradus 1") != 0 || step < 0 || step > INT32_MAX ||
        tokens < 0 || !read_hex(rng, "seed", &stream.seed) ||
        !read_hex(rng, "stream", &stream.stream) || !read_hex(rng, "offset", &stream.offset) ||
        !read_hex(data, "epoch", &position.epoch) || !read_hex(data, "row", &position.row) ||
        !read_hex(data, "fingerprint", &fingerprint)) {
        return false;
    }
    *why = "was saved with another text, sequence length, seed or split";
    if (fingerprint != data_fingerprint(snapshot->data) ||
        data_seek(snapshot->data, position) != 0) {
        return false;
    }
    *why = "was saved in another precision: set --fp16 or --bf16 as it was then";
    if (precision == NULL || strcmp(precision, precision_of(trainer)) != 0) {
        return false;
    }
    *why = "has no loss scaler";
    if (mixed != NULL && !read_scaler(json_object_get(json, "scaler"), &scaler)) {
        return false;
    }
    if (mixed != NULL) {
        mixed->scaler = scaler;
    }
    trainer->schedule.step = (int)step;
    trainer->model->rng = stream;
    snapshot->loss_sum = json_real_value(json_object_get(json, "loss_sum"));
    snapshot->loss_tokens = (size_t)tokens;
    return true;
}

static int load_state(Snapshot *snapshot, const char *path) {
    json_t *json = file_load_json(path);
    if (json == NULL) {
        return -1;
    }
    const char *why;
    bool good = read_state(snapshot, json, &why);
    json_decref(json);
    if (!good) {
        fprintf(stderr, "%s: %s\n", path, why);
    }
    return good ? 0 : -1;
}

int snapshot_load(Snapshot *snapshot, const char *folder) {
    char *weights = path_join(folder, "model.safetensors");
    char *moments = path_join(folder, "optimizer.safetensors");
    char *state = path_join(folder, "trainer_state.json");
    int result = load_state(snapshot, state);
    if (result == 0) {
        result = weights_load(snapshot->trainer->model, weights);
    }
    if (result == 0 && snapshot->load_more != NULL) {
        result = snapshot->load_more(snapshot->trainer->model, folder);
    }
    if (result == 0) {
        result = optimizer_load(snapshot->trainer->optimizer, moments);
    }
    free(weights);
    free(moments);
    free(state);
    return result;
}
