#include "device.h"

/* __device__ and __constant__ variables: each device has a copy, which is in place while its work
   runs. All begin with what the program was loaded with. */

/* Where cu2cpp puts the records; absent if there are none. */
extern cudasim_variable __start_cudasim_variables[] __attribute__((weak));
extern cudasim_variable __stop_cudasim_variables[] __attribute__((weak));

static int in_place;               /* the device whose copies are there */
static char *copies[MOST_DEVICES]; /* of the others; NULL: as at the beginning */
static char *at_first;             /* NULL: the program has one device */

static size_t total(void) {
    size_t bytes = 0;
    for (cudasim_variable *v = __start_cudasim_variables; v < __stop_cudasim_variables; v++) {
        bytes += v->bytes;
    }
    return bytes;
}

static void save(char *to) {
    for (cudasim_variable *v = __start_cudasim_variables; v < __stop_cudasim_variables; v++) {
        memcpy(to, v->begin, v->bytes);
        to += v->bytes;
    }
}

/* Those that are const never differ, and could not be written. */
static void load(const char *from) {
    for (cudasim_variable *v = __start_cudasim_variables; v < __stop_cudasim_variables; v++) {
        if (memcmp(v->begin, from, v->bytes) != 0) {
            memcpy(v->begin, from, v->bytes);
        }
        check_other(v->begin, v->bytes);
        from += v->bytes;
    }
}

void variables_at_first(void) {
    if (at_first == NULL && total() > 0) {
        at_first = sim_map(total());
        save(at_first);
    }
}

void variables_in_place(int device) {
    if (device == in_place || at_first == NULL) {
        return;
    }
    if (copies[in_place] == NULL) {
        copies[in_place] = sim_map(total());
    }
    save(copies[in_place]);
    load(copies[device] != NULL ? copies[device] : at_first);
    in_place = device;
}

void variables_reset(int device) {
    if (at_first != NULL) {
        int before = in_place;
        variables_in_place(device);
        load(at_first);
        variables_in_place(before);
    }
}
