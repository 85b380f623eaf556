/**
 * @file device.h
 * @brief The inside of cudasim, devices: which there are, and what each has for itself.
 * @ingroup cudasim
 */
#ifndef CUDASIM_DEVICE_H
#define CUDASIM_DEVICE_H

#include "allocation.h"

/** A device. */
typedef struct SimDevice {
    int queue;      /**< slot of its default stream; 0 before its first use, but for device 0 */
    bool many;      /**< it has had other queues than that */
    uint64_t peers; /**< bit d: kernels here may use memory of device d */
    SimUse memory;  /**< given out */
    uint64_t release_threshold; /**< of its pool; kept for cudaMemPoolGetAttribute() */
    cudaError_t error;          /**< of a kernel that failed; every later call returns it */
} SimDevice;

enum { MOST_DEVICES = 64 /**< of a program */ };

/** A device by its number, 0 to sim_device_count() - 1. */
SimDevice *device_of(int number);

/** How many there are. */
int sim_device_count(void);

/** There are at least `count` from now on, unless CUDASIM_DEVICES has said how many. */
void sim_need_devices(int count);

/** The device of the operation that runs; without one the current device of the host. */
int sim_device(void);

/** Whether there is a device of this number. */
bool sim_has_device(int number);

/** Whether work on one device may use memory of another one, or of the same. */
bool sim_reaches(int device, int owner);

#endif
