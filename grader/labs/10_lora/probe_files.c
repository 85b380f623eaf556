/* Lab 10's files, in a program of its own: nothing in it writes or reads a file. What the kit has
   for that is here once more, with two files that are in memory. */
#define _GNU_SOURCE
#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/weights.h"
#include "grader/labs/10_lora/shared.h"
#include "grader/probe.h"
#include "grader/probe_heap.h"
#include "labs/10_lora/contract.h"

enum { ROOM_BYTES = 64 << 20 };

#define CONFIG_FILE "adapter_config.json"
#define WEIGHTS_FILE "adapter_model.safetensors"

/* The two files, and what was done with them. */
typedef struct Folder {
    const char *content;                  /* of adapter_config.json; NULL where there is none */
    const char *names;                    /* (count, NAME_ROOM) of the matrices in the other */
    const float *values;                  /* theirs, end to end */
    int count;                            /* how many; 0: there is no such file */
    bool full, no_config;                 /* no room for matrices, or for adapter_config.json */
    const Model *model;                   /* whose matrices are to be written */
    json_t *saved_config;                 /* a copy of what was written */
    uint64_t configs, weights, elsewhere; /* how often */
    bool all, named;                      /* of the matrices that were written */
} Folder;
static Folder folder;

/* ---- in place of the kit's ------------------------------------------------------------------- */

static int cannot(const char *path, const char *what) {
    fprintf(stderr, "%s: %s\n", path, what);
    return -1;
}

char *path_join(const char *of, const char *name) {
    char *path = NULL;
    CHECK(asprintf(&path, "%s/%s", of, name) > 0, "no memory for a path");
    return path;
}

static bool is_here(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    return slash != NULL && strcmp(slash + 1, name) == 0 &&
           (size_t)(slash - path) == strlen(FOLDER_HERE) &&
           strncmp(path, FOLDER_HERE, strlen(FOLDER_HERE)) == 0;
}

/* Where a file may be written: in the folder, under any name. */
static bool folder_is_there(const char *path) {
    size_t length = strlen(FOLDER_HERE);
    return strncmp(path, FOLDER_HERE "/", length + 1) == 0 &&
           strchr(path + length + 1, '/') == NULL;
}

int file_save_json(const json_t *json, const char *path) {
    if (!folder_is_there(path) || folder.no_config) {
        return cannot(path, folder.no_config ? "cannot write: Permission denied"
                                             : "cannot write: No such file or directory");
    }
    CHECK(json != NULL, "no memory for %s", path);
    if (!is_here(path, CONFIG_FILE)) {
        folder.elsewhere++;
        return 0;
    }
    json_decref(folder.saved_config);
    folder.saved_config = json_deep_copy(json);
    folder.configs++;
    return 0;
}

json_t *file_load_json(const char *path) {
    if (!is_here(path, CONFIG_FILE) || folder.content == NULL) {
        cannot(path, "cannot read: No such file or directory");
        return NULL;
    }
    json_t *json = json_loads(folder.content, 0, NULL); /* json_is_object() may look twice */
    if (!json_is_object(json)) {
        cannot(path, "not a JSON object");
    }
    return json;
}

static bool same_matrices(const Model *model, const Param *params, int count) {
    bool same = count == model->param_count;
    for (int i = 0; same && i < count; i++) {
        same = params[i].weight == model->params[i].weight &&
               params[i].count == model->params[i].count;
    }
    return same;
}

/* A function for names that is adapter_name() is not called: a hole in that is another check's. */
static bool same_names(const Param *params, int count, param_name_fn *name) {
    bool same = true;
    for (int i = 0; same && name != adapter_name && i < count; i++) {
        char text[NAME_ROOM] = "", right[NAME_ROOM] = "";
        name(&params[i], text);
        adapter_name(&params[i], right);
        same = strncmp(text, right, NAME_ROOM) == 0;
    }
    return same;
}

int params_save(const Model *model, const Param *params, int count, param_name_fn *name,
                const char *path) {
    if (!folder_is_there(path) || folder.full) {
        return cannot(path, folder.full ? "cannot write: No space left on device"
                                        : "cannot write: No such file or directory");
    }
    bool here = is_here(path, WEIGHTS_FILE);
    folder.weights += here;
    folder.elsewhere += !here;
    folder.all = model == folder.model && same_matrices(model, params, count);
    folder.named = same_names(params, count, name);
    return 0;
}

/* The numbers of the matrix of that name; NULL where there is none. */
static const float *find_matrix(const char *name) {
    const float *values = folder.values;
    for (int i = 0; i < folder.count; i++) {
        if (strncmp(folder.names + (size_t)i * NAME_ROOM, name, NAME_ROOM) == 0) {
            return values;
        }
        values += folder.model->params[i].count;
    }
    return NULL;
}

int params_load(Model *model, Param *params, int count, param_name_fn *name, const char *path) {
    if (!is_here(path, WEIGHTS_FILE) || folder.count == 0) {
        return cannot(path, "No such file or directory");
    }
    for (int i = 0; i < count; i++) {
        char text[NAME_ROOM] = "";
        name(&params[i], text);
        const float *values = find_matrix(text);
        if (values == NULL) {
            return cannot(path, "is missing");
        }
        model_upload_weight(model, &params[i], values);
    }
    return count == folder.count ? 0 : cannot(path, "has a tensor that the model does not have");
}

/* ---- names and contents ---------------------------------------------------------------------- */

static void targets(const Wire *in, Wire *out) {
    size_t bytes;
    const char *names = wire_get(in, "names", WIRE_BYTES, &bytes);
    uint64_t *to = wire_get(out, "targets", WIRE_U64, NULL);
    for (size_t i = 0; i < bytes / TARGET_BYTES; i++) {
        to[i] = adapter_targets(names + i * TARGET_BYTES);
    }
}

static void names_of(const Wire *in, Wire *out) {
    enum { BEYOND = 32, BLANK = '#' };
    ModelConfig config = probe_config(in);
    Memory *memory = memory_new(probe_device(false, ROOM_BYTES), (MemoryOptions){.checked = true});
    Model *model = model_new_zero(&config, memory);
    char *to = wire_get(out, "names", WIRE_BYTES, NULL);
    uint64_t *made = wire_get(out, "made", WIRE_U64, NULL);
    *made = 0;
    for (int i = 0; i < model->param_count; i++) {
        char text[ADAPTER_NAME + BEYOND];
        memset(text, BLANK, sizeof text);
        text[0] = '\0';
        const char *name = adapter_name(&model->params[i], text);
        *made |= name != text ? MADE_ELSEWHERE : 0;
        for (int k = 0; k < BEYOND; k++) {
            *made |= text[ADAPTER_NAME + k] != BLANK ? MADE_BEYOND : 0;
        }
        snprintf(to + (size_t)i * ADAPTER_NAME, ADAPTER_NAME, "%.*s", ADAPTER_NAME - 1, text);
    }
}

/* true, false and null are the same everywhere, and have no count. */
static bool counts_references(const json_t *json) {
    return json->refcount != (size_t)-1;
}

/* Calls for a value and for all in it. @return whether each call said so */
static bool for_all(json_t *json, bool (*call)(json_t *json)) {
    const char *key;
    json_t *entry;
    size_t i;
    bool good = true;
    json_object_foreach(json, key, entry) {
        good = for_all(entry, call) && good;
    }
    json_array_foreach(json, i, entry) {
        good = for_all(entry, call) && good;
    }
    return (!counts_references(json) || call(json)) && good;
}

static bool is_alone(json_t *json) {
    return json->refcount == 1;
}

/* Another reference: who gives up what was borrowed is seen, and frees nothing. */
enum { HELD = 8 };

static bool hold(json_t *json) {
    json->refcount += HELD;
    return true;
}

static bool let_go(json_t *json) {
    bool good = json->refcount == HELD + 1;
    json->refcount = 1;
    return good;
}

/* The arguments of adapter_config_new(). */
typedef struct ContentCall {
    const Adapter *adapter;
    const char *base;
} ContentCall;

static void make_content(void *context) {
    const ContentCall *call = context;
    json_decref(adapter_config_new(call->adapter, call->base));
}

static void content_of(const Adapter *adapter, const char *base, char *to, uint64_t *made) {
    json_t *json = adapter_config_new(adapter, base);
    size_t length = json_dumpb(json, to, CONTENT_BYTES - 1, JSON_REAL_PRECISION(9));
    to[length < CONTENT_BYTES ? length : 0] = '\0';
    *made |= json != NULL && !for_all(json, is_alone) ? MADE_SHARED : 0;
    json_decref(json);
    *made |= heap_left(make_content, &(ContentCall){adapter, base}) > 0 ? MADE_LEFT : 0;
}

static void content(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    const int32_t *numbers = wire_get(in, "plain", WIRE_I32, NULL);
    const float *floats = wire_get(in, "plain floats", WIRE_F32, NULL);
    const Adapter plain = {numbers[0], (unsigned)numbers[1], floats[0], floats[1]};
    uint64_t *made = wire_get(out, "made", WIRE_U64, NULL);
    *made = 0;
    content_of(&config.adapter, wire_get(in, "base", WIRE_BYTES, NULL),
               wire_get(out, "content", WIRE_BYTES, NULL), made);
    content_of(&plain, NULL, wire_get(out, "content without base", WIRE_BYTES, NULL), made);
}

/* Asked once before the content is gone, and once after it. */
static ReadReason reason_of(const char *why, json_t *json) {
    char before[CONTENT_BYTES] = "";
    snprintf(before, sizeof before, "%s", why != NULL ? why : "");
    json_decref(json);
    if (why == NULL) {
        return REASON_GOOD;
    }
    return before[0] == '\0'                              ? REASON_EMPTY
           : strncmp(before, why, sizeof before - 1) != 0 ? REASON_GONE
                                                          : REASON_GOOD;
}

static void read_contents(const Wire *in, Wire *out) {
    size_t bytes;
    const char *contents = wire_get(in, "contents", WIRE_BYTES, &bytes);
    uint64_t *numbers = wire_get(out, "numbers", WIRE_U64, NULL);
    float *floats = wire_get(out, "floats", WIRE_F32, NULL);
    mallopt(M_PERTURB, 0x5A); /* what is freed does not look as it did */
    for (size_t i = 0; i < bytes / CONTENT_BYTES; i++) {
        json_t *json = json_loads(contents + i * CONTENT_BYTES, 0, NULL);
        bool held = json != NULL && for_all(json, hold);
        const Adapter before = {.rank = 77, .targets = 77, .alpha = 77, .dropout = 77};
        Adapter adapter = before;
        const char *why = adapter_config_read(json, &adapter);
        bool good = why == NULL;
        numbers[i * READ_NUMBERS + READ_KEPT] = !held || for_all(json, let_go);
        numbers[i * READ_NUMBERS] = good;
        numbers[i * READ_NUMBERS + 1] = good ? (uint64_t)adapter.rank : 0;
        numbers[i * READ_NUMBERS + 2] = good ? adapter.targets : 0;
        numbers[i * READ_NUMBERS + READ_WRITTEN] = memcmp(&adapter, &before, sizeof before) != 0;
        floats[2 * i] = good ? adapter.alpha : 0;
        floats[2 * i + 1] = good ? adapter.dropout : 0;
        numbers[i * READ_NUMBERS + READ_REASON] = reason_of(why, json);
    }
}

/* ---- the two files --------------------------------------------------------------------------- */

static Model *model_of(const Wire *in, Memory **memory) {
    ModelConfig config = probe_config(in);
    *memory = memory_new(probe_device(false, ROOM_BYTES), (MemoryOptions){.checked = true});
    folder.model = model_new_zero(&config, *memory);
    return (Model *)(uintptr_t)folder.model;
}

/* As heap_left(), of a call that may say a line: the next one takes its place. */
static uint64_t left_quietly(void (*call)(void *context), void *context) {
    static char said[BUFSIZ];
    FILE *stream = stderr;
    stderr = fmemopen(said, sizeof said, "w");
    CHECK(stderr != NULL, "no memory for a line");
    uint64_t left = heap_left(call, context);
    fclose(stderr);
    stderr = stream;
    return left;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void load_again(void *model) {
    adapter_load(model, FOLDER_HERE);
}

static void load_nothing(void *model) {
    adapter_load(model, FOLDER_NONE);
}

static void load_adapter(const Wire *in, Wire *out) {
    Memory *memory;
    Model *model = model_of(in, &memory);
    uint64_t *to = wire_get(out, "load", WIRE_U64, NULL);
    folder.names = wire_get(in, "matrices", WIRE_BYTES, NULL);
    folder.values = wire_get(in, "adapters", WIRE_F32, NULL);
    folder.count = model->param_count;
    to[LOAD_RESULT] = (uint64_t)adapter_load(model, FOLDER_HERE);
    hand_back_params(out, "loaded", model, model->params, model->param_count);
    to[LOAD_LEFT] = heap_left(load_again, model);
    to[LOAD_ABSENT] = (uint64_t)adapter_load(model, FOLDER_NONE);
    to[LOAD_LEFT] = larger(to[LOAD_LEFT], left_quietly(load_nothing, model));
    folder.count--;
    to[LOAD_SHORT] = (uint64_t)adapter_load(model, FOLDER_HERE);
    to[LOAD_LEFT] = larger(to[LOAD_LEFT], left_quietly(load_again, model));
    memory_free(memory);
}

/* The arguments of adapter_save(). */
typedef struct SaveCall {
    const Model *model;
    const char *base;
} SaveCall;

static void save_again(void *context) {
    const SaveCall *call = context;
    adapter_save(call->model, call->base, FOLDER_HERE);
}

static void save_nowhere(void *context) {
    const SaveCall *call = context;
    adapter_save(call->model, call->base, FOLDER_NONE);
}

static void save_adapter(const Wire *in, Wire *out) {
    Memory *memory;
    Model *model = model_of(in, &memory);
    const char *base = wire_get(in, "base", WIRE_BYTES, NULL);
    char *content = wire_get(out, "saved content", WIRE_BYTES, NULL);
    uint64_t *to = wire_get(out, "save", WIRE_U64, NULL);
    to[SAVE_RESULT] = (uint64_t)adapter_save(model, base, FOLDER_HERE);
    size_t length =
        json_dumpb(folder.saved_config, content, CONTENT_BYTES - 1, JSON_REAL_PRECISION(9));
    content[length < CONTENT_BYTES ? length : 0] = '\0';
    to[SAVE_CONFIG] = folder.configs;
    to[SAVE_WEIGHTS] = folder.weights;
    to[SAVE_ELSEWHERE] = folder.elsewhere;
    to[SAVE_ALL] = folder.all;
    to[SAVE_NAMED] = folder.named;
    SaveCall call = {model, base};
    to[SAVE_LEFT] = heap_left(save_again, &call);
    to[SAVE_NO_FOLDER] = (uint64_t)adapter_save(model, base, FOLDER_NONE);
    to[SAVE_LEFT] = larger(to[SAVE_LEFT], left_quietly(save_nowhere, &call));
    folder.full = true;
    to[SAVE_FULL] = (uint64_t)adapter_save(model, base, FOLDER_HERE);
    to[SAVE_LEFT] = larger(to[SAVE_LEFT], left_quietly(save_again, &call));
    folder.full = false;
    folder.no_config = true;
    to[SAVE_NO_CONFIG] = (uint64_t)adapter_save(model, base, FOLDER_HERE);
    to[SAVE_LEFT] = larger(to[SAVE_LEFT], left_quietly(save_again, &call));
    memory_free(memory);
}

static void load_config_again(void *adapter) {
    adapter_load_config(adapter, FOLDER_HERE);
}

/* Reads the file in a folder, and looks at what is said meanwhile. */
static void load_config_from(const char *content, uint64_t *to, Adapter *adapter) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = stderr;
    const Adapter before = {.rank = 77, .targets = 77, .alpha = 77, .dropout = 77};
    *adapter = before;
    folder.content = content;
    stderr = open_memstream(&text, &length);
    CHECK(stderr != NULL, "no memory for a line");
    to[LOAD_CONFIG_RESULT] = (uint64_t)adapter_load_config(adapter, FOLDER_HERE);
    fclose(stderr);
    stderr = stream;
    to[LOAD_CONFIG_LINES] = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        to[LOAD_CONFIG_LINES]++;
    }
    to[LOAD_CONFIG_WRITTEN] = memcmp(adapter, &before, sizeof before) != 0;
    free(text);
    to[LOAD_CONFIG_LEFT] = left_quietly(load_config_again, &(Adapter){.rank = 77});
}

static void load_config(const Wire *in, Wire *out) {
    uint64_t *to = wire_get(out, "load config", WIRE_U64, NULL);
    int32_t *numbers = wire_get(out, "config numbers", WIRE_I32, NULL);
    float *floats = wire_get(out, "config floats", WIRE_F32, NULL);
    const char *bad = wire_get(in, "bad content", WIRE_BYTES, NULL);
    Adapter adapter;
    load_config_from(wire_get(in, "good content", WIRE_BYTES, NULL), to, &adapter);
    numbers[0] = adapter.rank;
    numbers[1] = (int32_t)adapter.targets;
    floats[0] = adapter.alpha;
    floats[1] = adapter.dropout;
    load_config_from(bad, to + LOAD_CONFIG_NUMBERS, &adapter);
    load_config_from(NULL, to + 2 * LOAD_CONFIG_NUMBERS, &adapter);
}

const ProbeCase probe_cases[] = {
    {"targets", targets},         {"names", names_of},    {"content", content},
    {"read", read_contents},      {"load", load_adapter}, {"save", save_adapter},
    {"load config", load_config}, {NULL, NULL},
};
