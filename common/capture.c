/* A block for the tensors of a captured step. The contract is in capture.h. The functions of the
   device are replaced while the room watches or is open: nobody above the device knows. */
#include "common/capture.h"

#include <stdlib.h>
#include <string.h>

/* A place in the block that is taken, or that was released below one that is taken. */
typedef struct CapturePiece {
    size_t begin, end;
    bool taken;
} CapturePiece;

struct CaptureRoom {
    Device *device;
    Device own; /* the device as it was */
    char *block;
    size_t bytes;         /* the most that was watched, and so of the block */
    size_t height;        /* above it all is free */
    CapturePiece *pieces; /* below it, in the order of addresses */
    size_t count, space;
    bool open;
};

/* Devices have one room at a time, and their functions no place for it. */
static CaptureRoom *present;

static size_t padded(size_t bytes) {
    size_t least = bytes > 0 ? bytes : 1; /* an empty tensor has an address of its own */
    return (least + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
}

static void push(CaptureRoom *room, size_t size) {
    if (room->count == room->space) {
        room->space = room->space == 0 ? 256 : 2 * room->space;
        room->pieces = realloc(room->pieces, room->space * sizeof *room->pieces);
        CHECK(room->pieces != NULL, "no host memory for %zu places", room->space);
    }
    room->pieces[room->count++] = (CapturePiece){room->height, room->height + size, true};
    room->height += size;
}

/* A place released below others is free once they are. */
static void pop(CaptureRoom *room) {
    while (room->count > 0 && !room->pieces[room->count - 1].taken) {
        room->height = room->pieces[--room->count].begin;
    }
}

/* ---- while it watches: tensors are the device's, heights are counted ------------------------- */

static void *watch_alloc(Device *device, size_t bytes) {
    CaptureRoom *room = present;
    void *data = room->own.alloc(device, bytes);
    if (data != NULL) {
        push(room, padded(bytes));
        room->bytes = room->height > room->bytes ? room->height : room->bytes;
    }
    return data;
}

/* Of tensors of that size, the newest: which one it was makes no difference to the heights of a
   stack, and is not known of what came before. */
static void watch_release(Device *device, void *data, size_t bytes) {
    CaptureRoom *room = present;
    for (size_t i = room->count; i-- > 0;) {
        CapturePiece *piece = &room->pieces[i];
        if (piece->taken && piece->end - piece->begin == padded(bytes)) {
            piece->taken = false;
            break;
        }
    }
    pop(room);
    room->own.release(device, data, bytes);
}

/* ---- while it is open ------------------------------------------------------------------------ */

static void *room_alloc(Device *device, size_t bytes) {
    (void)device;
    CaptureRoom *room = present;
    size_t at = room->height;
    CHECK(padded(bytes) <= room->bytes - room->height,
          "a captured step allocates more than the one before it: %zu bytes, of %zu", bytes,
          room->bytes);
    push(room, padded(bytes));
    return room->block + at;
}

static void room_release(Device *device, void *data, size_t bytes) {
    CaptureRoom *room = present;
    size_t begin = (size_t)((char *)data - room->block);
    for (size_t i = room->count; i-- > 0;) {
        if ((char *)data >= room->block && room->pieces[i].begin == begin) {
            room->pieces[i].taken = false;
            pop(room);
            return;
        }
    }
    room->own.release(device, data, bytes); /* it came before */
}

static void refuse_upload(Device *device, void *to, const void *from, size_t bytes) {
    (void)device, (void)to, (void)from;
    CHECK(false, "%zu bytes are uploaded in a captured step: each replay would have today's",
          bytes);
}

static void refuse_download(Device *device, void *to, const void *from, size_t bytes) {
    (void)device, (void)to, (void)from;
    CHECK(false, "%zu bytes are downloaded in a captured step: nothing has run yet", bytes);
}

static void refuse_wait(Device *device) {
    (void)device;
    CHECK(false, "a captured step waits for the device: nothing has run yet");
}

/* ---- the room -------------------------------------------------------------------------------- */

CaptureRoom *capture_room_new(Memory *memory) {
    CaptureRoom *room = calloc(1, sizeof *room);
    CHECK(room != NULL, "no memory for a few bytes");
    room->device = memory_device(memory);
    CHECK(!room->device->host_memory, "a graph is captured on a GPU");
    return room;
}

static void take_device(CaptureRoom *room) {
    CHECK(present == NULL, "another room is watching, or open");
    present = room;
    room->own = *room->device;
    room->count = room->height = 0;
}

static void give_device_back(CaptureRoom *room) {
    *room->device = room->own;
    present = NULL;
}

static void free_block(CaptureRoom *room) {
    if (room->block != NULL) {
        device_release(room->device, room->block, room->bytes);
        room->block = NULL;
    }
}

void capture_room_watch(CaptureRoom *room) {
    free_block(room);
    take_device(room);
    room->bytes = 0;
    room->device->alloc = watch_alloc;
    room->device->release = watch_release;
}

void capture_room_watched(CaptureRoom *room) {
    CHECK(present == room && !room->open, "capture_room_watch() comes first");
    CHECK(room->count == 0, "%zu tensors of the step are not released", room->count);
    give_device_back(room);
    room->block = device_alloc(room->device, room->bytes);
    CHECK(room->block != NULL, "no room for the %zu bytes of a captured step", room->bytes);
}

void capture_room_open(CaptureRoom *room) {
    CHECK(room->block != NULL && !room->open, "capture_room_watched() comes first");
    take_device(room);
    room->open = true;
    room->device->alloc = room_alloc;
    room->device->release = room_release;
    room->device->upload = refuse_upload;
    room->device->download = refuse_download;
    room->device->synchronize = refuse_wait;
}

void capture_room_close(CaptureRoom *room) {
    CHECK(room->open, "the room is not open");
    CHECK(room->count == 0, "%zu tensors of a captured step are not released", room->count);
    give_device_back(room);
    room->open = false;
}

size_t capture_room_bytes(const CaptureRoom *room) {
    return room->block != NULL ? room->bytes : 0;
}

void capture_room_free(CaptureRoom *room) {
    if (room == NULL) {
        return;
    }
    if (present == room) {
        give_device_back(room);
    }
    free_block(room);
    free(room->pieces);
    free(room);
}
