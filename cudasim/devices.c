#include "device.h"

#include "rank.h"

/* Which devices there are, which one is current, and whose memory each may use. */

static SimDevice devices[MOST_DEVICES];
static int needed = 1; /* if CUDASIM_DEVICES does not say */

SimDevice *device_of(int number) {
    return &devices[number];
}

int sim_device_count(void) {
    return sim_settings.devices > 0 ? sim_settings.devices : needed;
}

void sim_need_devices(int count) {
    needed = count > needed ? count : needed;
}

int sim_device(void) {
    const Operation *operation = sim_operation();
    return operation != NULL ? queue_of(operation->stream)->device : sim_host()->device;
}

bool sim_has_device(int number) {
    sim_begin();
    return number >= 0 && number < sim_device_count();
}

bool sim_reaches(int device, int owner) {
    return device == owner || devices[device].peers >> owner & 1;
}

/* ---- the current one ------------------------------------------------------------------------- */

cudaError_t cudaGetDeviceCount(int *count) {
    ENTER("cudaGetDeviceCount", NULL, 0);
    *count = sim_device_count();
    return cudaSuccess;
}

cudaError_t cudasim_set_device(const char *file, int line, int device) {
    ENTER("cudaSetDevice", file, line);
    if (!sim_has_device(device)) {
        return sim_error(cudaErrorInvalidDevice, "cudaSetDevice", (Place){file, line}, false);
    }
    sim_host()->device = device;
    return sim_device_error();
}

cudaError_t cudaGetDevice(int *device) {
    ENTER("cudaGetDevice", NULL, 0);
    *device = sim_host()->device;
    return cudaSuccess;
}
