#include "check.h"
#include "operation.h"

/* How many sectors of device memory the operations touch. For each sector it is known which one
   read it last, and which one wrote it: only the first time in an operation counts. */

enum { SECTOR = 32 };

static bool counting;
static size_t touched;    /* since the last question */
static uint32_t *last[2]; /* (sectors of the device) serial numbers of operations; [1] that write */
static const char *begin; /* of the device's memory */

double cudasim_traffic_bytes(void) {
    if (!counting) {
        size_t bytes;
        begin = sim_device_range(&bytes);
        last[0] = sim_map(bytes / SECTOR * sizeof **last);
        last[1] = sim_map(bytes / SECTOR * sizeof **last);
        counting = true;
    }
    double bytes_moved = (double)touched * SECTOR;
    touched = 0;
    return bytes_moved;
}

bool traffic_counts(void) {
    return counting;
}

void traffic_access(const char *p, size_t bytes, bool write) {
    if (!counting || bytes == 0) {
        return;
    }
    uint32_t operation = (uint32_t)sim_operation()->serial;
    size_t first = (size_t)(p - begin) / SECTOR, end = (size_t)(p - begin + bytes - 1) / SECTOR;
    for (size_t sector = first; sector <= end; sector++) {
        touched += last[write][sector] != operation;
        last[write][sector] = operation;
    }
}
