#include "allocation.h"
#include "check.h"

/* A bit for each byte of device memory and of a worker's shared memory: has it been written? */

static unsigned char *device_bits;
static const char *device_begin;

unsigned char *shadow_device_bits(void) {
    if (device_bits == NULL) {
        size_t bytes;
        device_begin = sim_device_range(&bytes);
        device_bits = sim_map(bytes / 8 + 1);
    }
    return device_bits;
}

/* The bits of the memory that p is in, and p's number in it; NULL for memory of other kinds. */
static unsigned char *bits_of(const char *p, size_t *number) {
    if (sim_on_device(p)) {
        unsigned char *bits = shadow_device_bits();
        *number = (size_t)(p - device_begin);
        return bits;
    }
    Worker *worker = sim_worker;
    if (worker == NULL || p < worker->shared || p >= worker->dynamic_end) {
        return NULL;
    }
    if (worker->written_bits == NULL) {
        worker->written_bits = sim_map((size_t)(worker->dynamic_end - worker->shared) / 8 + 1);
    }
    *number = (size_t)(p - worker->shared);
    return worker->written_bits;
}

void shadow_mark(const void *p, size_t bytes, bool written) {
    size_t first, i = 0;
    unsigned char *bits = bits_of(p, &first);
    while (bits != NULL && i < bytes) {
        size_t n = first + i;
        if (n % 8 == 0 && bytes - i >= 8) {
            size_t whole = (bytes - i) / 8;
            memset(&bits[n / 8], written ? 0xFF : 0, whole);
            i += 8 * whole;
            continue;
        }
        unsigned char bit = (unsigned char)(1u << n % 8);
        bits[n / 8] = (unsigned char)(written ? bits[n / 8] | bit : bits[n / 8] & ~bit);
        i++;
    }
}

size_t shadow_written_from(const void *p, size_t bytes) {
    size_t first, i = 0;
    const unsigned char *bits = bits_of(p, &first);
    while (bits != NULL && i < bytes) {
        size_t n = first + i;
        if (n % 8 == 0 && bytes - i >= 8 && bits[n / 8] == 0xFF) {
            i += 8;
        } else if (bits[n / 8] >> n % 8 & 1) {
            i++;
        } else {
            return i;
        }
    }
    return bytes;
}

bool shadow_written(const void *p, size_t bytes) {
    return shadow_written_from(p, bytes) == bytes;
}

/* How many bytes from p on may be padding; 0: something should have written them. */
static size_t padding_at(const char *p, size_t bytes, size_t most) {
    size_t n = 0;
    while (n < bytes && n <= most && !shadow_written(p + n, 1)) {
        n++;
    }
    uintptr_t end = (uintptr_t)p + n;
    return n <= most && n < (end & -end) ? n : 0;
}

void shadow_pad(const void *p, size_t bytes, size_t most) {
    size_t n = shadow_written_from(p, bytes);
    while (n > 0 && n < bytes) {
        const char *at = (const char *)p + n;
        size_t padding = padding_at(at, bytes - n, most);
        if (padding == 0) {
            return;
        }
        shadow_mark(at, padding, true);
        n += padding;
        n += shadow_written_from(at + padding, bytes - n);
    }
}

void shadow_copy(const void *to, const void *from, size_t bytes) {
    if (shadow_written(from, bytes)) {
        shadow_mark(to, bytes, true);
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        shadow_mark((const char *)to + i, 1, shadow_written((const char *)from + i, 1));
    }
}
