#include "allocation.h"
#include "block.h"

/* In builds without check mode, loads and stores are not looked at. */

const bool sim_checking = false;

void check_fresh(const void *p, size_t bytes) {
    (void)p, (void)bytes;
}

void check_other(const void *p, size_t bytes) {
    (void)p, (void)bytes;
}

void check_once(void) {
}

void check_filled(const void *p, size_t bytes) {
    (void)p, (void)bytes;
}

void check_range(const void *p, size_t bytes, bool write) {
    (void)p, (void)bytes, (void)write;
}

void check_copied(void *to, const void *from, size_t bytes) {
    (void)to, (void)from, (void)bytes;
}

void check_pause(void) {
}

void check_launch_begins(const Launch *launch) {
    (void)launch;
}

void check_epoch(void) {
}

bool check_launch_again(const Launch *launch) {
    (void)launch;
    return false;
}

void check_launch_ends(const Launch *launch) {
    (void)launch;
}

void check_landed(const void *p, size_t bytes, Place place) {
    (void)p, (void)bytes, (void)place;
}

void check_diverged(void) {
}

void cudasim_compares(const volatile void *p) {
    (void)p;
}

void check_opened(Allocation *allocation) {
    (void)allocation;
}

bool check_mute(void) {
    return false;
}

void check_stop(void) {
}

void cudasim_before_access(const volatile void *p, size_t bytes, int write, const char *file,
                           int line) {
    (void)p, (void)bytes, (void)write, (void)file, (void)line;
}

void cudasim_before_load(const volatile void *p, size_t bytes, const char *file, int line) {
    (void)p, (void)bytes, (void)file, (void)line;
}

/* On memory that blocks share, the order of atomics is that of one core. */
void cudasim_before_atomic(const volatile void *p, size_t bytes, const char *file, int line) {
    (void)bytes, (void)file, (void)line;
    Worker *worker = sim_worker;
    bool in_kernel = worker != NULL && worker->in_kernel;
    if (in_kernel && ((const char *)p < worker->shared || (const char *)p >= worker->dynamic_end)) {
        sim_in_turn(worker);
    }
}

void cudasim_fence(void) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

double cudasim_accesses(void) {
    return -1;
}

double cudasim_traffic_bytes(void) {
    return 0;
}

bool traffic_of_operation(double *read, double *written) {
    (void)read, (void)written;
    return false;
}
