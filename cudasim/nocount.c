#include "block.h"

/* In the ordinary build the compiler announces no load and no store. */

const bool sim_announced = false;

bool traffic_counts(void) {
    return false;
}

void traffic_access(const void *p, size_t bytes, bool write) {
    (void)p, (void)bytes, (void)write;
}

bool traffic_of_operation(double *read, double *written) {
    (void)read, (void)written;
    return false;
}

double cudasim_traffic_bytes(void) {
    return 0;
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
