/**
 * @file device.h
 * @brief The inside of cudasim, devices: which there are, and what each has for itself.
 * @ingroup cudasim
 */
#ifndef CUDASIM_DEVICE_H
#define CUDASIM_DEVICE_H

#include "allocation.h"

enum { MOST_DEVICES = 64 /**< of a program */ };

/** A device. */
typedef struct SimDevice {
    bool many;           /**< it has had other queues than default streams */
    uint64_t peers;      /**< bit d: kernels here may use memory of device d */
    uint64_t pool_users; /**< bit d: kernels of device d may use memory of the pool here */
    Place peer_ended[MOST_DEVICES]; /**< where `peers` has lost a bit */
    SimUse memory;                  /**< given out */
    size_t heap;                    /**< bytes of it that kernels took with malloc() */
    uint64_t release_threshold;     /**< of its pool; kept for cudaMemPoolGetAttribute() */
    cudaError_t error;              /**< of a kernel that failed; every later call returns it */
} SimDevice;

/** A device by its number, 0 to sim_device_count() - 1. */
SimDevice *device_of(int number);

/** How many there are. */
int sim_device_count(void);

/** There are at least `count` from now on, unless CUDASIM_DEVICES has said how many. */
void sim_need_devices(int count);

/** Bytes that kernels may take with malloc(): cudaDeviceSetLimit(). */
size_t sim_heap_limit(int device);

/** The device of the operation that runs; without one the current device of the host. */
int sim_device(void);

/** Whether there is a device of this number. */
bool sim_has_device(int number);

/** Work begins: reports a cudaSetDevice() that has failed without being noticed. */
void sim_tell_refused(void);

/* ---- variables.c ----------------------------------------------------------------------------- */

/** There will be several devices or ranks: notes what their variables begin with. */
void variables_at_first(void);

/** Work of a device runs, or a copy from or to its variables. */
void variables_in_place(int device);

/** The program has asked for the address of a variable of the device; false if it had before. */
bool variable_addressed(const void *begin, size_t bytes);

/** As if it had not. */
void variable_forget(const void *begin);

/** Whether a call was given a variable of the device, by name and address; else it is reported. */
bool variable_is_symbol(const char *call, const char *name, const void *p, Place place);

/** The variable that holds p, if the program has asked for its address; else NULL. */
const cudasim_variable *variable_at(const volatile void *p);

/** Whether bytes from p on lie within the variable that holds p; else that is reported. */
bool variable_holds(const char *what, const void *p, size_t bytes, Place place);

/** Under a report: whether p is the host's name of a variable of the device; then that is said. */
bool variable_detail(const void *p);

/** They are as at the beginning. */
void variables_reset(int device);

/** Bytes of the `__constant__` variables. */
size_t constant_bytes(void);

/** Whether p lies in one of them. */
bool in_constants(const char *p);

extern uintptr_t variables_begin; /**< of all that lies from the first such variable to the last */
extern size_t variables_bytes;    /**< of the same; 0: there is none */

/** The `__device__` or `__constant__` variable of this program that holds p; else NULL. */
const cudasim_variable *variable_recorded(const void *p);

/** The name of the variable that holds p, if the host alone has it, as cu2cpp says; else NULL. */
const char *variable_of_host(const void *p);

/** Whether what describe_site() says of a line lies in a function that the device has too: there
    `__CUDA_ARCH__` is defined, though the host runs it. */
bool variable_of_both(const char *where);

/** Whether such a variable is not const, whose value a compiler may use on both sides. */
bool variable_writable(const void *p);

/* ---- local.c --------------------------------------------------------------------------------- */

/** Memory of the host that work will use which is not yet done. */
typedef struct HostEnd {
    const char *first;    /**< where it begins; it may be no memory of the host, too */
    bool freed;           /**< free() or delete has taken it back since */
    struct HostEnd *next; /**< of all that are noted */
} HostEnd;

/** From now on it is known when the memory is freed, until sim_forget_host(). */
void sim_note_host(HostEnd *end);

/** The work will not be done again. */
void sim_forget_host(HostEnd *end);

/** The memory's fate in words, if others may have it by now; else NULL. */
const char *sim_host_gone(const HostEnd *end);

/* ---- peer.c ---------------------------------------------------------------------------------- */

/** Whether kernels of a device may use the memory. */
bool sim_reaches(int device, const Allocation *a);

/** More lines of a report that they may not: why, and what to do. */
void sim_detail_reach(int device, const Allocation *a);

/** Whether the memory is of the rank that runs, or of none; else that is reported. */
bool sim_is_own(const Allocation *a, const char *what, Place place);

/** Whether a kernel or product in a queue may use the memory; else that is reported. */
bool sim_kernel_may_use(const Allocation *a, int slot, const char *what, Place place);

#endif
