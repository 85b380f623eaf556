/* The safetensors format, read with distrust: every number of a header is checked before it is
   used. The contract and the format are in safetensors.h. */
#include "common/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "kernels/base.h"

/* The format's own limit of a header. */
enum { LONGEST_HEADER = 100000000 };

struct SafeFile {
    const char *name; /* for messages; valid while parsing only */
    void *map;        /* where the file was mapped, else NULL */
    size_t map_bytes;
    json_t *header; /* owns all strings */
    SafeTensor *tensors;
    size_t count;
};

static const struct {
    const char *dtype;
    uint64_t bytes;
} dtypes[] = {
    {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F64", 8},     {"I64", 8},
    {"I32", 4}, {"I16", 2}, {"I8", 1},   {"U8", 1},      {"BOOL", 1},
    {"U16", 2}, {"U32", 4}, {"U64", 8},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
};

static uint64_t dtype_bytes(const char *dtype) {
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].dtype, dtype) == 0) {
            return dtypes[i].bytes;
        }
    }
    return 0;
}

static bool refuse(const SafeFile *file, const char *tensor, const char *why) {
    if (tensor != NULL) {
        /* A name is part of the file: at most 80 bytes of it. */
        char shown[81];
        snprintf(shown, sizeof shown, "%s", tensor);
        text_plain(shown, strlen(shown), "");
        fprintf(stderr, "%s: tensor \"%s\": %s\n", file->name, shown, why);
    } else {
        fprintf(stderr, "%s: %s\n", file->name, why);
    }
    return false;
}

/* A JSON integer that is not negative. */
static bool natural(const json_t *value, uint64_t *number) {
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return false;
    }
    *number = (uint64_t)json_integer_value(value);
    return true;
}

/* Reads one entry of the header; `rest` is the number of bytes after the header. */
static bool parse_tensor(const SafeFile *file, const char *name, const json_t *entry,
                         const unsigned char *base, uint64_t rest, SafeTensor *tensor) {
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const json_t *shape = json_object_get(entry, "shape");
    const json_t *offsets = json_object_get(entry, "data_offsets");
    uint64_t begin, end;
    if (dtype == NULL || !json_is_array(shape) || !json_is_array(offsets)) {
        return refuse(file, name, "dtype, shape or data_offsets are missing");
    }
    if (dtype_bytes(dtype) == 0) {
        return refuse(file, name, "unknown dtype");
    }
    if (json_array_size(shape) > SAFETENSORS_RANK) {
        return refuse(file, name, "more than 8 dimensions");
    }
    if (json_array_size(offsets) != 2 || !natural(json_array_get(offsets, 0), &begin) ||
        !natural(json_array_get(offsets, 1), &end) || begin > end) {
        return refuse(file, name, "data_offsets are not two numbers in order");
    }
    if (end > rest) {
        return refuse(file, name, "its data would end past the end of the file");
    }
    *tensor = (SafeTensor){.name = name, .dtype = dtype, .rank = (int)json_array_size(shape)};
    uint64_t bytes = dtype_bytes(dtype);
    for (int i = 0; i < tensor->rank; i++) {
        if (!natural(json_array_get(shape, (size_t)i), &tensor->shape[i]) ||
            __builtin_mul_overflow(bytes, tensor->shape[i], &bytes)) {
            return refuse(file, name, "the shape is invalid");
        }
    }
    if (bytes != end - begin) {
        return refuse(file, name, "shape and data_offsets differ in size");
    }
    tensor->data = base + begin;
    tensor->bytes = (size_t)bytes;
    return true;
}

static int by_address(const void *a, const void *b) {
    const SafeTensor *x = a, *y = b;
    if (x->data != y->data) {
        return x->data < y->data ? -1 : 1;
    }
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static bool parse_tensors(SafeFile *file, const unsigned char *base, uint64_t rest) {
    const char *name;
    json_t *entry;
    file->tensors = calloc(json_object_size(file->header) + 1, sizeof *file->tensors);
    CHECK(file->tensors != NULL, "no memory for %zu tensors", json_object_size(file->header));
    json_object_foreach(file->header, name, entry) {
        if (strcmp(name, "__metadata__") == 0) {
            continue;
        }
        if (!parse_tensor(file, name, entry, base, rest, &file->tensors[file->count])) {
            return false;
        }
        file->count++;
    }
    qsort(file->tensors, file->count, sizeof *file->tensors, by_address);
    const unsigned char *end = base;
    for (size_t i = 0; i < file->count; i++) {
        if (file->tensors[i].data != end) {
            return refuse(file, file->tensors[i].name, "gap or overlap before its data");
        }
        end += file->tensors[i].bytes;
    }
    if ((uint64_t)(end - base) != rest) {
        return refuse(file, NULL, "there is data after the last tensor");
    }
    return true;
}

static bool parse(SafeFile *file, const unsigned char *bytes, size_t size) {
    if (size < 8) {
        return refuse(file, NULL, "too short for a safetensors file");
    }
    uint64_t length = 0;
    for (int i = 7; i >= 0; i--) {
        length = length << 8 | bytes[i];
    }
    if (length > LONGEST_HEADER || length > size - 8) {
        return refuse(file, NULL, "not a safetensors file, or cut off in its header");
    }
    json_error_t error;
    const char *text = (const char *)bytes + 8;
    file->header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(file->header)) {
        return refuse(file, NULL, "the header is not a JSON object");
    }
    return parse_tensors(file, bytes + 8 + length, size - 8 - length);
}

SafeFile *safetensors_parse(const void *bytes, size_t size, const char *name) {
    SafeFile *file = calloc(1, sizeof *file);
    CHECK(file != NULL, "no memory for a few bytes");
    file->name = name;
    if (!parse(file, bytes, size)) {
        safetensors_close(file);
        return NULL;
    }
    return file;
}

SafeFile *safetensors_open(const char *path) {
    int descriptor = open(path, O_RDONLY);
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
        }
        return NULL;
    }
    if (!S_ISREG(status.st_mode) || status.st_size < 8) {
        fprintf(stderr, "%s: %s\n", path,
                S_ISREG(status.st_mode) ? "too short for a safetensors file"
                                        : "not a regular file");
        close(descriptor);
        return NULL;
    }
    size_t size = (size_t)status.st_size;
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    if (map == MAP_FAILED) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return NULL;
    }
    SafeFile *file = safetensors_parse(map, size, path);
    if (file == NULL) {
        munmap(map, size);
        return NULL;
    }
    file->map = map;
    file->map_bytes = size;
    return file;
}

void safetensors_close(SafeFile *file) {
    if (file == NULL) {
        return;
    }
    if (file->map != NULL) {
        munmap(file->map, file->map_bytes);
    }
    json_decref(file->header);
    free(file->tensors);
    free(file);
}

size_t safetensors_count(const SafeFile *file) {
    return file->count;
}

const SafeTensor *safetensors_at(const SafeFile *file, size_t index) {
    CHECK(index < file->count, "tensor %zu of %zu", index, file->count);
    return &file->tensors[index];
}

const SafeTensor *safetensors_find(const SafeFile *file, const char *name) {
    for (size_t i = 0; i < file->count; i++) {
        if (strcmp(file->tensors[i].name, name) == 0) {
            return &file->tensors[i];
        }
    }
    return NULL;
}

const char *safetensors_metadata(const SafeFile *file, const char *key) {
    return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}

static json_t *header_of(const SafeTensor *tensors, size_t count, const char *const *metadata) {
    json_t *header = json_object(), *texts = json_object();
    for (; *metadata != NULL; metadata += 2) {
        json_object_set_new(texts, metadata[0], json_string(metadata[1]));
    }
    json_object_set_new(header, "__metadata__", texts);
    uint64_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        json_t *shape = json_array();
        for (int d = 0; d < tensors[i].rank; d++) {
            json_array_append_new(shape, json_integer((json_int_t)tensors[i].shape[d]));
        }
        uint64_t end = offset + tensors[i].bytes;
        json_object_set_new(header, tensors[i].name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", tensors[i].dtype, "shape",
                                      shape, "data_offsets", (json_int_t)offset, (json_int_t)end));
        offset = end;
    }
    return header;
}

int safetensors_write_header(FILE *file, const SafeTensor *tensors, size_t count,
                             const char *const *metadata) {
    json_t *header = header_of(tensors, count, metadata);
    char *text = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    CHECK(text != NULL, "no memory for a header of %zu tensors", count);
    size_t length = strlen(text), padded = (length + 7) / 8 * 8;
    unsigned char size[8];
    for (int i = 0; i < 8; i++) {
        size[i] = (unsigned char)((uint64_t)padded >> 8 * i);
    }
    bool good = fwrite(size, 1, 8, file) == 8 && fwrite(text, 1, length, file) == length;
    for (; length < padded && good; length++) {
        good = fputc(' ', file) != EOF;
    }
    free(text);
    return good ? 0 : -1;
}
