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
    count = count < MOST_DEVICES ? count : MOST_DEVICES;
    needed = count > needed ? count : needed;
    if (sim_device_count() > 1) {
        variables_at_first();
    }
}

int sim_device(void) {
    const Operation *operation = sim_operation();
    return operation != NULL ? queue_of(operation->stream)->device : sim_host()->device;
}

bool sim_has_device(int number) {
    sim_begin();
    return number >= 0 && number < sim_device_count();
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
        sim_host()->refused = (Place){file, line};
        return sim_error(cudaErrorInvalidDevice, "cudaSetDevice", (Place){file, line}, false);
    }
    sim_host()->device = device;
    sim_host()->refused.file = NULL;
    return sim_device_error();
}

/* Who has not noticed goes on to work, on the device that was current before. */
void sim_tell_refused(void) {
    Place place = sim_host()->refused;
    if (place.file != NULL) {
        sim_host()->refused.file = NULL;
        sim_report("unchecked error",
                   "cudaSetDevice failed at %s:%d with \"%s\", and the program never checked",
                   sim_file(place), place.line, cudaGetErrorString(cudaErrorInvalidDevice));
        sim_detail("there are %d devices, from 0 on; device %d is still current, and does what "
                   "follows",
                   sim_device_count(), sim_host()->device);
    }
}

cudaError_t cudaGetDevice(int *device) {
    ENTER("cudaGetDevice", NULL, 0);
    *device = sim_host()->device;
    return cudaSuccess;
}
