#include "grader/record.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/testkit/scratch.h"

static json_t *plan(void) {
    return json_pack("[{s:s, s:f, s:s}, {s:s, s:f, s:s}, {s:s, s:f, s:s}]", "name", "a", "points",
                     60.0, "title", "first", "name", "b", "points", 40.0, "title", "second <&>",
                     "name", "gpu", "points", 0.0, "title", "only shown");
}

static void set(json_t *record, const char *name, RowState state) {
    json_object_set_new(record_row(record, name), "state", json_string(row_state_name(state)));
}

Test(record, a_lost_row_says_why) {
    cr_expect_not(row_is_told(ROW_FAIL, "", ""));
    cr_expect_not(row_is_told(ROW_CRASHED, " \n", "\t"));
    cr_expect(row_is_told(ROW_FAIL, "loss is 4, should be 3", ""));
    cr_expect(row_is_told(ROW_FAIL, "", "likely: not divided"));
    cr_expect(row_is_told(ROW_PASS, "", ""));
    cr_expect(row_is_told(ROW_NOT_RUN, "", ""));
}

Test(record, begins_with_a_grader_error_everywhere) {
    json_t *planned = plan(), *record = record_new("00_bytes", "here", planned);
    cr_assert_eq(json_number_value(json_object_get(record, "score")), 0);
    cr_assert_eq(json_number_value(json_object_get(record, "total")), 100);
    cr_assert(json_is_false(json_object_get(record, "full")));
    cr_assert_str_eq(json_string_value(json_object_get(record_row(record, "b"), "state")),
                     "grader error");
    cr_assert_null(record_row(record, "c"));
    json_decref(planned);
    json_decref(record);
}

Test(record, adds_up_over_the_plan) {
    json_t *planned = plan(), *record = record_new("00_bytes", "here", planned);
    set(record, "a", ROW_PASS);
    set(record, "b", ROW_CRASHED);
    set(record, "gpu", ROW_NOT_RUN);
    record_add_up(record);
    cr_assert_eq(json_number_value(json_object_get(record, "score")), 60);
    cr_assert_eq(json_number_value(json_object_get(record, "total")), 100);
    cr_assert(json_is_false(json_object_get(record, "full")));
    set(record, "b", ROW_PASS);
    record_add_up(record);
    cr_assert_eq(json_number_value(json_object_get(record, "score")), 100);
    cr_assert(json_is_true(json_object_get(record, "full")));
    /* A row without points that fails is still no success. */
    set(record, "gpu", ROW_FAIL);
    record_add_up(record);
    cr_assert_eq(json_number_value(json_object_get(record, "score")), 100);
    cr_assert(json_is_false(json_object_get(record, "full")));
    json_decref(planned);
    json_decref(record);
}

Test(record, state_names_go_both_ways) {
    for (int state = ROW_GRADER_ERROR; state <= ROW_NOT_RUN; state++) {
        cr_assert_eq((int)row_state_of(row_state_name((RowState)state)), state);
    }
    cr_assert_eq(row_state_of("passed!"), ROW_GRADER_ERROR);
    cr_assert_eq(row_state_of(NULL), ROW_GRADER_ERROR);
}

Test(record, hostile_text_stays_text) {
    char *clean = record_clean("\033[2Ja\tb\nc\r\x7f\xff");
    cr_assert_str_eq(clean, "?[2Ja\tb\nc???");
    free(clean);
}

/* A list that is in itself has no end, which is found out halfway. */
Test(record, what_cannot_be_written_leaves_what_was_there) {
    scratch_folder();
    const char *path = scratch_file("record.json", "{}", 2);
    json_t *outer = json_array(), *inner = json_array();
    json_array_append(outer, inner);
    json_array_append(inner, outer);
    cr_assert_not(record_write(outer, path));
    json_array_clear(inner);
    json_decref(inner);
    json_decref(outer);
    json_t *kept = json_load_file(path, 0, NULL);
    cr_assert(json_is_object(kept));
    json_decref(kept);
    scratch_remove();
}

Test(record, a_full_disk_or_a_missing_folder_is_an_error) {
    json_t *planned = plan(), *record = record_new("00_bytes", "here", planned);
    cr_assert_not(record_write(record, "/nowhere/at/all.json"));
    json_decref(planned);
    json_decref(record);
}
