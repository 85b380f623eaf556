#include "allocation.h"
#include "operation.h"

/* How many sectors of device memory the operations touch. For each sector it is known which one
   read it last, and which one wrote it: only the first time in an operation counts. */

enum { SECTOR = 32 };

const bool sim_announced = true;

static bool counting;
static size_t touched;    /* since the last question */
static size_t moved[2];   /* by the operation in hand; [1] written */
static uint32_t *last[2]; /* (sectors of the device) serial numbers of operations; [1] that write */
static const char *begin; /* of the device's memory */

static void count(void) {
    size_t bytes;
    begin = sim_device_range(&bytes);
    last[0] = sim_map(bytes / SECTOR * sizeof **last);
    last[1] = sim_map(bytes / SECTOR * sizeof **last);
    counting = true;
}

double cudasim_traffic_bytes(void) {
    if (!counting) {
        count();
    }
    double bytes_moved = (double)touched * SECTOR;
    touched = 0;
    return bytes_moved;
}

bool traffic_counts(void) {
    return counting || sim_settings.traffic;
}

void traffic_access(const void *p, size_t bytes, bool write) {
    if (!traffic_counts() || bytes == 0) {
        return;
    }
    if (!counting) {
        count();
    }
    uint32_t operation = (uint32_t)sim_operation()->serial;
    size_t at = (size_t)((const char *)p - begin);
    size_t first = at / SECTOR, end = (at + bytes - 1) / SECTOR;
    for (size_t sector = first; sector <= end; sector++) {
        moved[write] += last[write][sector] != operation;
        touched += last[write][sector] != operation;
        last[write][sector] = operation;
    }
}

bool traffic_of_operation(double *read, double *written) {
    *read = (double)moved[0] * SECTOR;
    *written = (double)moved[1] * SECTOR;
    moved[0] = moved[1] = 0;
    return sim_settings.traffic;
}
