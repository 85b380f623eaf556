/* Tables of named tensors in shared memory, between judge and probe. The contract is in wire.h. */
#define _GNU_SOURCE
#include "grader/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base.h"

enum { MAGIC = 0x47574952, DONE = 0x444F4E45 };

/* The head of a file; the entries follow, then the data. */
typedef struct Header {
    uint32_t magic;
    uint32_t done; /* DONE once the probe has finished */
    uint64_t entries;
    uint64_t bytes;
} Header;

static size_t element_bytes(WireType type) {
    return type == WIRE_BYTES ? 1 : type == WIRE_F64 || type == WIRE_U64 ? 8 : 4;
}

static size_t entry_bytes(const WireEntry *entry) {
    return (size_t)entry->count * element_bytes((WireType)entry->type);
}

static size_t up(size_t bytes) {
    return (bytes + WIRE_GUARD - 1) / WIRE_GUARD * WIRE_GUARD;
}

static size_t data_begin(void) {
    return up(sizeof(Header) + WIRE_MOST * sizeof(WireEntry));
}

/* ---- the judge ------------------------------------------------------------------------------- */

Wire *wire_new(void) {
    Wire *wire = calloc(1, sizeof *wire);
    CHECK(wire != NULL, "no memory for a table");
    wire->bytes = data_begin() + WIRE_GUARD;
    wire->data = malloc(wire->bytes);
    CHECK(wire->data != NULL, "no memory for a table");
    memset(wire->data, WIRE_FILL, wire->bytes);
    return wire;
}

void wire_free(Wire *wire) {
    if (wire != NULL) {
        free(wire->data);
        free(wire);
    }
}

static const WireEntry *find(const Wire *wire, const char *name) {
    for (int i = 0; i < wire->entries; i++) {
        if (strcmp(wire->entry[i].name, name) == 0) {
            return &wire->entry[i];
        }
    }
    return NULL;
}

void wire_add(Wire *wire, const char *name, WireType type, const void *values, size_t count) {
    CHECK(wire->entries < WIRE_MOST, "more than %d tensors", WIRE_MOST);
    CHECK(strlen(name) < WIRE_NAME, "the name %s is too long", name);
    CHECK(find(wire, name) == NULL, "%s is planned twice", name);
    WireEntry *entry = &wire->entry[wire->entries++];
    *entry = (WireEntry){.type = type, .count = count, .offset = wire->bytes};
    snprintf(entry->name, sizeof entry->name, "%s", name);
    /* The tensor ends against its guard, so that writing one element too many shows. */
    size_t bytes = entry_bytes(entry), room = up(bytes);
    entry->offset += (room - bytes) / 16 * 16;
    unsigned char *data = realloc(wire->data, wire->bytes + room + WIRE_GUARD);
    CHECK(data != NULL, "no memory for %s", name);
    wire->data = data;
    memset(wire->data + wire->bytes, WIRE_FILL, room + WIRE_GUARD);
    if (values != NULL && bytes > 0) {
        memcpy(wire->data + entry->offset, values, bytes);
    }
    wire->bytes += room + WIRE_GUARD;
}

void wire_change(Wire *wire, const char *name, WireType type, const void *values, size_t count) {
    size_t planned;
    void *data = wire_get(wire, name, type, &planned);
    CHECK(count == planned, "%s: %zu elements, and %zu are planned", name, count, planned);
    memcpy(data, values, count * element_bytes(type));
}

static bool write_all(int file, const void *from, size_t bytes, off_t at) {
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pwrite(file, (const char *)from + done, bytes - done, at + (off_t)done);
        if (n <= 0) {
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

static bool write_table(int file, const Wire *wire) {
    Header header = {MAGIC, 0, (uint64_t)wire->entries, wire->bytes};
    return write_all(file, wire->data, wire->bytes, 0) &&
           write_all(file, &header, sizeof header, 0) &&
           write_all(file, wire->entry, sizeof wire->entry, sizeof header);
}

bool wire_save(const Wire *wire, const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = file >= 0 && write_table(file, wire);
    return file >= 0 && close(file) == 0 && good;
}

int wire_file(const Wire *wire, bool constant) {
    int file = memfd_create("wire", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (constant ? F_SEAL_WRITE : 0);
    bool good = file >= 0 && write_table(file, wire) && fcntl(file, F_ADD_SEALS, seals) == 0;
    if (!good) {
        perror("memory file for the probe");
        if (file >= 0) {
            close(file);
        }
        return -1;
    }
    return file;
}

bool wire_fetch(Wire *wire, int descriptor) {
    for (size_t done = 0; done < wire->bytes;) {
        ssize_t n = pread(descriptor, wire->data + done, wire->bytes - done, (off_t)done);
        if (n <= 0) {
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

void wire_blank(Wire *wire) {
    memset(wire->data, WIRE_FILL, wire->bytes);
}

static bool filled(const unsigned char *from, const unsigned char *to) {
    while (from < to && *from == WIRE_FILL) {
        from++;
    }
    return from == to;
}

bool wire_guards(const Wire *wire, const char **name) {
    size_t end = data_begin();
    for (int i = 0; i < wire->entries; i++) {
        const WireEntry *entry = &wire->entry[i];
        if (!filled(wire->data + end, wire->data + entry->offset)) {
            *name = entry->name;
            return false;
        }
        end = entry->offset + entry_bytes(entry);
    }
    *name = wire->entries > 0 ? wire->entry[wire->entries - 1].name : "";
    return filled(wire->data + end, wire->data + wire->bytes);
}

bool wire_done(const Wire *wire) {
    const Header *header = (const Header *)wire->data;
    return header->done == DONE;
}

/* ---- both ------------------------------------------------------------------------------------ */

void *wire_get(const Wire *wire, const char *name, WireType type, size_t *count) {
    const WireEntry *entry = find(wire, name);
    CHECK(entry != NULL, "there is no tensor %s", name);
    CHECK(entry->type == type, "tensor %s is of type %d, not %d", name, (int)entry->type, type);
    if (count != NULL) {
        *count = (size_t)entry->count;
    }
    return wire->data + entry->offset;
}

bool wire_has(const Wire *wire, const char *name, WireType type, size_t count) {
    const WireEntry *entry = find(wire, name);
    return entry != NULL && entry->type == type && entry->count == count;
}

/* ---- the probe ------------------------------------------------------------------------------- */

Wire *wire_open(int descriptor, bool writable) {
    struct stat file;
    CHECK(fstat(descriptor, &file) == 0 && (size_t)file.st_size >= data_begin(),
          "descriptor %d is not a table; the probe is started by `make gradeNN` or `make debugNN`",
          descriptor);
    int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *data = mmap(NULL, (size_t)file.st_size, access, writable ? MAP_SHARED : MAP_PRIVATE,
                      descriptor, 0);
    CHECK(data != MAP_FAILED, "cannot map descriptor %d", descriptor);
    Header header;
    memcpy(&header, data, sizeof header);
    CHECK(header.magic == MAGIC && header.entries <= WIRE_MOST, "descriptor %d is not a table",
          descriptor);
    Wire *wire = calloc(1, sizeof *wire);
    CHECK(wire != NULL, "no memory for a table");
    memcpy(wire->entry, (const char *)data + sizeof header, sizeof wire->entry);
    wire->entries = (int)header.entries;
    wire->bytes = (size_t)file.st_size;
    wire->data = data;
    return wire;
}

void wire_finish(Wire *wire) {
    ((Header *)(void *)wire->data)->done = DONE;
}
