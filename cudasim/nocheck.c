#include "allocation.h"
#include "block.h"

/* In builds without check mode, loads and stores are not checked. They may be counted: of copies
   and products here, of kernels in count.c. */

const bool sim_checking = false;

void check_fresh(const void *p, size_t bytes) {
    (void)p, (void)bytes;
}

void check_other(const void *p, size_t bytes) {
    (void)p, (void)bytes;
}

void check_mapped(void) {
}

void check_managed(void) {
}

void check_once(void) {
}

long long check_clock(long long now) {
    return now;
}

void check_filled(const void *p, size_t bytes) {
    (void)p, (void)bytes;
}

void check_range(const void *p, size_t bytes, bool write) {
    traffic_access(p, bytes, write);
}

void check_order(const void *p, size_t bytes, bool write) {
    (void)p, (void)bytes, (void)write;
}

void check_padded(const void *p, size_t bytes, size_t padding) {
    (void)p, (void)bytes, (void)padding;
}

void check_copied(void *to, const void *from, size_t bytes) {
    (void)to;
    traffic_access(from, bytes, false);
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

bool check_read_unwritten(void) {
    return false;
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

void check_waited(void) {
}

void check_stop(void) {
}

void cudasim_fence(int of_block) {
    (void)of_block;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

double cudasim_accesses(void) {
    return -1;
}

void cudasim_within_block(const volatile void *p) {
    (void)p;
}
