#define _GNU_SOURCE
#include "grader/wire.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const float given[3] = {1, 2, 3};

Test(wire, carries_what_is_given_and_brings_back_what_is_wanted) {
    Wire *in = wire_new(), *out = wire_new();
    wire_add(in, "x", WIRE_F32, given, 3);
    wire_add(in, "none", WIRE_U64, NULL, 0);
    wire_add(out, "y", WIRE_F64, NULL, 2);
    int in_file = wire_file(in, true), out_file = wire_file(out, false);
    cr_assert(in_file >= 0 && out_file >= 0);

    /* The probe's part. */
    Wire *from = wire_open(in_file, false), *to = wire_open(out_file, true);
    size_t n;
    const float *x = wire_get(from, "x", WIRE_F32, &n);
    cr_assert_eq(n, 3);
    double *y = wire_get(to, "y", WIRE_F64, NULL);
    y[0] = (double)x[2];
    y[1] = (double)x[0];

    const char *beyond;
    cr_assert(wire_fetch(out, out_file));
    cr_assert_not(wire_done(out));
    wire_finish(to);
    cr_assert(wire_fetch(out, out_file));
    cr_assert(wire_done(out));
    cr_assert(wire_guards(out, &beyond));
    const double *got = wire_get(out, "y", WIRE_F64, NULL);
    cr_assert_eq(got[0], 3);
    cr_assert_eq(got[1], 1);

    y[2] = 0;
    cr_assert(wire_fetch(out, out_file));
    cr_assert_not(wire_guards(out, &beyond));
    cr_assert_str_eq(beyond, "y");
    close(in_file);
    close(out_file);
    wire_free(in);
    wire_free(out);
}

/* A run of the kit leaves right answers in the table that a submission gets next. */
Test(wire, what_one_run_left_no_other_finds) {
    Wire *wire = wire_new();
    wire_add(wire, "y", WIRE_F32, NULL, 3);
    memcpy(wire_get(wire, "y", WIRE_F32, NULL), given, sizeof given);
    wire_blank(wire);
    int file = wire_file(wire, false);
    Wire *to = wire_open(file, true);
    const float *found = wire_get(to, "y", WIRE_F32, NULL);
    const char *beyond;
    cr_assert(found[0] != found[0] && found[2] != found[2]);
    cr_assert(wire_fetch(wire, file) && wire_guards(wire, &beyond));
    close(file);
    wire_free(wire);
}

Test(wire, other_values_may_be_given_for_a_second_run) {
    static const float other[3] = {4, 5, 6};
    Wire *in = wire_new();
    wire_add(in, "before", WIRE_U64, NULL, 0);
    wire_add(in, "x", WIRE_F32, given, 3);
    wire_change(in, "x", WIRE_F32, other, 3);
    int file = wire_file(in, true);
    const float *x = wire_get(wire_open(file, false), "x", WIRE_F32, NULL);
    cr_assert(memcmp(x, other, sizeof other) == 0);
    close(file);
    wire_free(in);
}

Test(wire, files_are_sealed) {
    Wire *wire = wire_new();
    wire_add(wire, "x", WIRE_F32, given, 3);
    int constant = wire_file(wire, true), writable = wire_file(wire, false);
    char byte = 0;
    cr_assert(ftruncate(constant, 1) != 0 && ftruncate(writable, 1) != 0);
    cr_assert(ftruncate(writable, 1 << 20) != 0);
    cr_assert_eq(pwrite(constant, &byte, 1, 0), -1);
    cr_assert_eq(pwrite(writable, &byte, 1, 0), 1);
    cr_assert(fcntl(writable, F_ADD_SEALS, F_SEAL_WRITE) != 0);
    close(constant);
    close(writable);
    wire_free(wire);
}

/* The judge's own plan decides, whatever the header says. */
Test(wire, a_forged_header_changes_nothing) {
    Wire *wire = wire_new();
    wire_add(wire, "y", WIRE_F32, NULL, 4);
    int file = wire_file(wire, false);
    char forged[4096];
    memset(forged, 0x7F, sizeof forged);
    cr_assert_eq(pwrite(file, forged, sizeof forged, 0), sizeof forged);
    cr_assert(wire_fetch(wire, file));
    size_t n;
    cr_assert_not_null(wire_get(wire, "y", WIRE_F32, &n));
    cr_assert_eq(n, 4);
    cr_assert_not(wire_done(wire));
    close(file);
    wire_free(wire);
}
