#include "block.h"

/* Tensor cores: what the lanes of a warp must do together. The products are in mma.h. */

enum { ALIGNED = 32 /* bytes of a matrix in memory */, STEP = 16 /* bytes of its ld */ };

static void begin_report(const char *kind, int operation, Place place, const char *what) {
    sim_report(kind, "%s at %s:%d: %s", sim_operation_name(operation), sim_file(place), place.line,
               what);
}

static _Noreturn void end_report(void) {
    sim_detail_thread();
    sim_abort_block();
}

Meeting *cudasim_meet_warp(int operation, unsigned long long value, const char *file, int line) {
    Place place = {file, line};
    Meeting *meeting = cudasim_meet(operation, 0xffffffffu, value, file, line);
    if (meeting->arrived != 0xffffffffu) {
        begin_report("undefined shuffle", operation, place, "all 32 lanes of the warp must come");
        sim_detail("lanes 0x%08x do not: they have left the kernel, or the block's last warp is "
                   "short",
                   ~meeting->arrived);
        end_report();
    }
    return meeting;
}

static void check_pointer(int operation, const void *p, Place place) {
    if ((uintptr_t)p % ALIGNED != 0) {
        begin_report("misaligned access", operation, place,
                     "the matrix must begin at a multiple of 32 bytes");
        sim_detail("%p is %d bytes past one", p, (int)((uintptr_t)p % ALIGNED));
        end_report();
    }
}

static void check_ld(int operation, unsigned ld, size_t size, unsigned least, Place place) {
    if (ld * size % STEP != 0) {
        begin_report("fragment misuse", operation, place,
                     "the leading dimension must be a multiple of 16 bytes");
        sim_detail("it is %u elements of %zu bytes: take a multiple of %zu elements", ld, size,
                   STEP / size);
        end_report();
    }
    if (ld < least) {
        begin_report("fragment misuse", operation, place, "the leading dimension is too small");
        sim_detail("it is %u, but a line of the matrix has %u elements: lines overlap", ld, least);
        end_report();
    }
}

void cudasim_meet_matrix(int operation, const void *p, unsigned ld, size_t size, unsigned least,
                         const char *file, int line) {
    Place place = {file, line};
    sim_need_kernel(sim_operation_name(operation), place);
    check_pointer(operation, p, place);
    check_ld(operation, ld, size, least, place);
    unsigned long long same = (unsigned long long)(uintptr_t)p + ((unsigned long long)ld << 48);
    Meeting *meeting = cudasim_meet_warp(operation, same, file, line);
    for (int lane = 0; lane < WARP; lane++) {
        if (meeting->value[lane] != same) {
            begin_report("fragment misuse", operation, place,
                         "all lanes must give the same pointer and leading dimension");
            sim_detail("lane %d gives others than lane %d: the pointer is that of the whole "
                       "matrix, not of the lane's part",
                       lane, cudasim_lane);
            end_report();
        }
    }
    sim_part(meeting);
}

void cudasim_unset_fragment(int operation, const char *use, const char *file, int line) {
    Place place = {file, line};
    sim_need_kernel(sim_operation_name(operation), place);
    if (check_read_unwritten()) {
        return; /* that it was loaded too early is said already, or a race that is still to come */
    }
    begin_report("fragment misuse", operation, place,
                 "a fragment has elements in which nothing was stored");
    sim_detail("it is the %s: fill_fragment() or load_matrix_sync() comes first, and what is "
               "loaded must have been written",
               use);
    end_report();
}
