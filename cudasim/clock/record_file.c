/* A record as JSON lines. The contract is in record_file.h; docs/clock.md describes the keys. */
#include "cudasim/clock/record_file.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cudasim/clock/memory.h"

static const char *const kinds[] = {
    [CUDASIM_LAUNCH] = "launch", [CUDASIM_PRODUCT] = "product",
    [CUDASIM_COPY] = "copy",     [CUDASIM_FILL] = "fill",
    [CUDASIM_EVENT] = "event",   [CUDASIM_COLLECTIVE] = "collective",
    [CUDASIM_WAIT] = "wait",     [CUDASIM_HOST_CALL] = "host call",
    [CUDASIM_MARK] = "mark",     [CUDASIM_HOST_WAIT] = "host wait",
    [CUDASIM_GRAPH] = "graph",
};
static const char *const ways[] = {
    [CUDASIM_TO_DEVICE] = "to device",
    [CUDASIM_FROM_DEVICE] = "from device",
    [CUDASIM_WITHIN_DEVICE] = "within device",
    [CUDASIM_BETWEEN_DEVICES] = "between devices",
};
static const char *const precisions[] = {
    [CUDASIM_F32] = "f32",
    [CUDASIM_TF32] = "tf32",
    [CUDASIM_F16] = "f16",
    [CUDASIM_BF16] = "bf16",
};
static const char *const collectives[] = {
    [CUDASIM_ALL_REDUCE] = "all-reduce",
    [CUDASIM_REDUCE_TO_ONE] = "reduce",
    [CUDASIM_REDUCE_SCATTER] = "reduce-scatter",
    [CUDASIM_ALL_GATHER] = "all-gather",
    [CUDASIM_BROADCAST] = "broadcast",
    [CUDASIM_SEND] = "send",
    [CUDASIM_RECEIVE] = "receive",
};
#define COUNT(list) ((int)(sizeof(list) / sizeof(list)[0]))

const char *record_file_kind(CudasimKind kind) {
    return kinds[kind];
}

/* ---- writing --------------------------------------------------------------------------------- */

static void set(json_t *to, const char *key, json_t *value) {
    json_object_set_new_nocheck(to, key, value);
}

/* A number that is 0 is left out. */
static void set_number(json_t *to, const char *key, double value) {
    if (value != 0) {
        bool whole = value == floor(value) && fabs(value) < 9e15;
        set(to, key, whole ? json_integer((json_int_t)value) : json_real(value));
    }
}

static json_t *list_of(const uint64_t *value, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, json_integer((json_int_t)value[i]));
    }
    return list;
}

static void set_size(json_t *to, const char *key, const unsigned size[3]) {
    set(to, key, json_pack("[i, i, i]", (int)size[0], (int)size[1], (int)size[2]));
}

static bool is_message(const CudasimEntry *e) {
    return e->collective == CUDASIM_SEND || e->collective == CUDASIM_RECEIVE;
}

static void set_collective(json_t *to, const CudasimEntry *e) {
    set(to, "collective", json_string(collectives[e->collective]));
    set(to, "communicator", json_integer((json_int_t)e->communicator));
    set(to, "call", json_integer((json_int_t)e->call));
    set(to, "ranks", json_integer(e->ranks));
    set(to, "comm_rank", json_integer(e->comm_rank));
    set_number(to, "group", (double)e->group);
    if (is_message(e)) {
        set(to, "peer", json_integer(e->peer));
    }
}

static void set_kind(json_t *to, const CudasimEntry *e) {
    if (e->kind == CUDASIM_LAUNCH) {
        set_size(to, "grid", e->grid);
        set_size(to, "block", e->block);
    } else if (e->kind == CUDASIM_COPY) {
        set(to, "way", json_string(ways[e->way]));
        if (e->way == CUDASIM_BETWEEN_DEVICES) {
            set(to, "peer", json_integer(e->peer));
        }
    } else if (e->kind == CUDASIM_COLLECTIVE) {
        set_collective(to, e);
    }
}

static json_t *json_of(const CudasimEntry *e) {
    json_t *line = json_object();
    set(line, "id", json_integer((json_int_t)e->id));
    set(line, "kind", json_string(kinds[e->kind]));
    set(line, "name", json_string(e->name));
    if (e->op != NULL) {
        set(line, "op", json_string(e->op));
    }
    if (e->file != NULL) {
        set(line, "file", json_string(e->file));
        set(line, "line", json_integer(e->line));
    }
    set(line, "rank", json_integer(e->rank));
    set(line, "device", json_integer(e->device));
    if (e->stream >= 0) {
        set(line, "stream", json_integer(e->stream));
        set(line, "number", json_integer((json_int_t)e->number));
    }
    set_number(line, "graph", (double)e->graph);
    set(line, "after", list_of(e->after, e->after_count));
    if (e->clock_count > 0) {
        set(line, "clock", list_of(e->clock, e->clock_count));
    }
    set_number(line, "bytes", e->bytes);
    if (e->flops != 0) {
        set_number(line, "flops", e->flops);
        set(line, "precision", json_string(precisions[e->precision]));
    }
    if (e->read >= 0) {
        set(line, "read", json_integer((json_int_t)e->read));
        set(line, "written", json_integer((json_int_t)e->written));
    }
    set_kind(line, e);
    return line;
}

bool record_file_write(const CudasimRecord *record, FILE *file) {
    bool good = true;
    for (size_t i = 0; i < record->count && good; i++) {
        json_t *line = json_of(&record->entry[i]);
        good = json_dumpf(line, file, JSON_COMPACT) == 0 && fputc('\n', file) != EOF;
        json_decref(line);
    }
    return good;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct RecordFile {
    CudasimEntry *entry;
    int count, room;
    json_t *words; /* its keys are the names in the record, each once */
};

/* A line on its way to an entry; the first thing that is wrong with it. */
typedef struct Reader {
    json_t *line, *words;
    const char *key;
} Reader;

static json_t *get(Reader *reader, const char *key, bool good, json_t *value) {
    reader->key = good || reader->key != NULL ? reader->key : key;
    return value;
}

static double number(Reader *reader, const char *key, double least, double most, double otherwise) {
    json_t *value = json_object_get(reader->line, key);
    double x = value == NULL ? otherwise : json_number_value(value);
    bool good = value == NULL || json_is_number(value);
    get(reader, key, good && x >= least && x <= most, value);
    return reader->key == NULL ? x : 0;
}

static double whole(Reader *reader, const char *key, double least, double most, double otherwise) {
    double x = number(reader, key, least, most, otherwise);
    get(reader, key, x == floor(x), NULL);
    return x;
}

static const char *text(Reader *reader, const char *key, bool wanted) {
    json_t *value = json_object_get(reader->line, key);
    get(reader, key, json_is_string(value) || (value == NULL && !wanted), value);
    return json_string_value(value);
}

/* The same, to be kept when the line is gone. */
static const char *name(Reader *reader, const char *key, bool wanted) {
    const char *found = text(reader, key, wanted);
    if (found == NULL) {
        return NULL;
    }
    if (json_object_get(reader->words, found) == NULL) {
        json_object_set_new_nocheck(reader->words, found, json_true());
    }
    return json_object_iter_key(json_object_iter_at(reader->words, found));
}

static int word(Reader *reader, const char *key, const char *const list[], int count) {
    const char *found = text(reader, key, true);
    for (int i = 0; found != NULL && i < count; i++) {
        if (strcmp(found, list[i]) == 0) {
            return i;
        }
    }
    get(reader, key, false, NULL);
    return 0;
}

/* Numbers from `least` on; they rise where they are ids of entries before this one. */
static uint64_t *numbers(Reader *reader, const char *key, uint64_t below, int *count) {
    json_t *list = json_object_get(reader->line, key);
    get(reader, key, list == NULL || json_is_array(list), NULL);
    *count = (int)json_array_size(list);
    uint64_t *value = clock_new((size_t)*count, sizeof *value);
    for (int i = 0; i < *count; i++) {
        json_t *item = json_array_get(list, (size_t)i);
        json_int_t x = json_integer_value(item);
        value[i] = (uint64_t)x;
        bool good = json_is_integer(item) && x >= 0;
        if (below > 0) {
            good = good && x > 0 && value[i] < below && (i == 0 || value[i] > value[i - 1]);
        }
        get(reader, key, good, NULL);
    }
    return value;
}

static void read_size(Reader *reader, const char *key, unsigned size[3]) {
    json_t *list = json_object_get(reader->line, key);
    get(reader, key, json_array_size(list) == 3, NULL);
    for (size_t i = 0; i < 3; i++) {
        size[i] = (unsigned)json_integer_value(json_array_get(list, i));
    }
}

enum { MOST = 1 << 20 /* ranks, devices, streams */ };

static void read_collective(Reader *reader, CudasimEntry *e) {
    e->collective = (CudasimCollective)word(reader, "collective", collectives, COUNT(collectives));
    e->communicator = (uint64_t)whole(reader, "communicator", 0, 9e15, -1);
    e->call = (uint64_t)whole(reader, "call", 1, 9e15, -1);
    e->ranks = (int)whole(reader, "ranks", 1, MOST, -1);
    e->comm_rank = (int)whole(reader, "comm_rank", 0, e->ranks - 1, -1);
    e->group = (uint64_t)whole(reader, "group", 0, 9e15, 0);
    e->peer = (int)whole(reader, "peer", 0, e->ranks - 1, is_message(e) ? -1 : 0);
}

static void read_kind(Reader *reader, CudasimEntry *e) {
    if (e->kind == CUDASIM_LAUNCH) {
        read_size(reader, "grid", e->grid);
        read_size(reader, "block", e->block);
    } else if (e->kind == CUDASIM_COPY) {
        e->way = (CudasimWay)word(reader, "way", ways, COUNT(ways));
        bool peer = e->way == CUDASIM_BETWEEN_DEVICES;
        e->peer = (int)whole(reader, "peer", 0, MOST, peer ? -1 : 0);
    } else if (e->kind == CUDASIM_COLLECTIVE) {
        read_collective(reader, e);
    }
}

static CudasimEntry read_entry(Reader *reader, uint64_t id) {
    CudasimEntry e = {.id = id};
    whole(reader, "id", (double)id, (double)id, -1);
    e.kind = (CudasimKind)word(reader, "kind", kinds, COUNT(kinds));
    e.name = name(reader, "name", true);
    e.op = name(reader, "op", false);
    e.file = name(reader, "file", false);
    e.line = (int)whole(reader, "line", 0, INT32_MAX, 0);
    e.rank = (int)whole(reader, "rank", 0, MOST, -1);
    e.device = (int)whole(reader, "device", 0, MOST, -1);
    bool host = e.kind == CUDASIM_HOST_WAIT || e.kind == CUDASIM_GRAPH;
    double lowest = host ? -1 : 0;
    e.stream = (int)whole(reader, "stream", lowest, host ? -1 : MOST, -1);
    e.number = (uint64_t)whole(reader, "number", 0, 9e15, 0);
    e.graph = (uint64_t)whole(reader, "graph", 0, (double)id - 1, 0);
    e.after = numbers(reader, "after", id, &e.after_count);
    e.clock = numbers(reader, "clock", 0, &e.clock_count);
    e.bytes = number(reader, "bytes", 0, 1e18, 0);
    e.flops = number(reader, "flops", 0, 1e24, 0);
    e.precision = e.flops > 0
                      ? (CudasimPrecision)word(reader, "precision", precisions, COUNT(precisions))
                      : CUDASIM_F32;
    e.read = number(reader, "read", 0, 1e18, 0);
    e.written = number(reader, "written", 0, 1e18, 0);
    if (json_object_get(reader->line, "read") == NULL) {
        e.read = e.written = -1;
    }
    read_kind(reader, &e);
    return e;
}

static bool add_line(RecordFile *file, json_t *line, const char *path, int number_of_line) {
    int place = file->count;
    Reader reader = {.line = line, .words = file->words};
    file->entry = clock_grow(file->entry, place, &file->room, sizeof *file->entry);
    file->entry[place] = read_entry(&reader, (uint64_t)place + 1);
    file->count++;
    if (reader.key != NULL) {
        fprintf(stderr, "%s:%d: \"%s\" is missing or wrong\n", path, number_of_line, reader.key);
    }
    return reader.key == NULL;
}

static bool read_lines(RecordFile *file, FILE *from, const char *path) {
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    for (int n = 1; good && getline(&line, &room, from) > 0; n++) {
        json_error_t error;
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
        if (!json_is_object(object)) {
            fprintf(stderr, "%s:%d: %s\n", path, n, object == NULL ? error.text : "not an object");
            good = false;
        } else {
            good = add_line(file, object, path, n);
        }
        json_decref(object);
    }
    free(line);
    if (good && ferror(from)) {
        perror(path);
        return false;
    }
    if (good && file->count == 0) {
        fprintf(stderr, "%s: no entries\n", path);
        return false;
    }
    return good;
}

RecordFile *record_file_load(const char *path) {
    FILE *from = fopen(path, "r");
    if (from == NULL) {
        perror(path);
        return NULL;
    }
    RecordFile *file = clock_new(1, sizeof *file);
    file->words = json_object();
    bool good = read_lines(file, from, path);
    fclose(from);
    if (!good) {
        record_file_free(file);
        return NULL;
    }
    return file;
}

CudasimRecord record_file_entries(const RecordFile *file) {
    return (CudasimRecord){file->entry, (size_t)file->count};
}

void record_file_free(RecordFile *file) {
    for (int i = 0; file != NULL && i < file->count; i++) {
        free((void *)(uintptr_t)file->entry[i].after);
        free((void *)(uintptr_t)file->entry[i].clock);
    }
    if (file != NULL) {
        free(file->entry);
        json_decref(file->words);
    }
    free(file);
}
