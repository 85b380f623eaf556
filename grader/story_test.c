/* The mistake that lost checks have in common. */
#include "grader/story.h"

#include <criterion/criterion.h>
#include <string.h>

static json_t *row(const char *name, const char *state, json_t *suspects, const char *after) {
    const char *mistake = json_array_size(suspects) > 0 ? "likely: a" : "";
    return json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", name, "state", state, "mistake", mistake,
                     "suspects", suspects, "after", after);
}

static const char *mistake_of(const json_t *record, size_t i) {
    return json_string_value(
        json_object_get(json_array_get(json_object_get(record, "checks"), i), "mistake"));
}

Test(story, a_mistake_that_explains_all_is_told_once) {
    json_t *record = json_pack(
        "{s:[o, o, o, o]}", "checks", row("one", "fail", json_pack("[s, s]", "a", "b"), ""),
        row("two", "fail", json_pack("[s, s]", "c", "b"), ""),
        row("three", "pass", json_array(), ""), row("four", "fail", json_array(), "three two"));
    story_tell(record);
    const json_t *story = json_object_get(record, "story");
    cr_assert_str_eq(json_string_value(json_object_get(story, "mistake")), "b");
    cr_assert_eq(json_array_size(json_object_get(story, "checks")), 2);
    cr_assert_eq(json_integer_value(json_object_get(story, "lost")), 3);
    cr_assert_str_eq(mistake_of(record, 0), "likely: b");
    cr_assert_str_eq(mistake_of(record, 3), "see `two`: this check stands on that one");
    json_decref(record);
}

Test(story, what_a_row_says_of_its_tensors_stays) {
    json_t *record =
        json_pack("{s:[o, o]}", "checks", row("one", "fail", json_pack("[s]", "b"), ""),
                  row("two", "fail", json_pack("[s, s]", "c", "b"), ""));
    json_object_set_new(json_array_get(json_object_get(record, "checks"), 0), "mistake",
                        json_string("likely: wte alone: b"));
    story_tell(record);
    cr_assert_str_eq(mistake_of(record, 0), "likely: wte alone: b");
    cr_assert_str_eq(mistake_of(record, 1), "likely: b");
    const json_t *story = json_object_get(record, "story");
    cr_assert_str_eq(json_string_value(json_object_get(story, "mistake")), "b");
    json_decref(record);
}

Test(story, tensors_that_all_rows_name_are_named) {
    json_t *record =
        json_pack("{s:[o, o]}", "checks", row("one", "fail", json_pack("[s]", "b"), ""),
                  row("two", "fail", json_pack("[s]", "b"), ""));
    for (size_t i = 0; i < 2; i++) {
        json_object_set_new(json_array_get(json_object_get(record, "checks"), i), "mistake",
                            json_string("likely: wte alone: b"));
    }
    story_tell(record);
    const json_t *story = json_object_get(record, "story");
    cr_assert_str_eq(json_string_value(json_object_get(story, "mistake")), "wte alone: b");
    json_decref(record);
}

Test(story, nobody_knows_which_of_two) {
    json_t *record =
        json_pack("{s:[o, o]}", "checks", row("one", "fail", json_pack("[s, s]", "a", "b"), ""),
                  row("two", "fail", json_pack("[s, s]", "a", "b"), ""));
    story_tell(record);
    cr_assert_null(json_object_get(record, "story"));
    json_decref(record);
}

Test(story, another_mistake_than_that_of_an_earlier_check_is_not_told) {
    json_t *record = json_pack(
        "{s:[o, o, o, o, o]}", "checks", row("one", "fail", json_pack("[s]", "a"), ""),
        row("two", "fail", json_pack("[s]", "b"), "one"),
        row("three", "fail", json_pack("[s, s]", "b", "a"), "two one"),
        row("four", "fail", json_array(), ""), row("five", "fail", json_pack("[s]", "c"), "four"));
    story_tell(record);
    cr_assert_str_eq(mistake_of(record, 0), "likely: a");
    cr_assert_str_eq(mistake_of(record, 1), "see `one`: this check stands on that one");
    cr_assert_str_eq(mistake_of(record, 2), "likely: a");
    cr_assert_str_eq(mistake_of(record, 4), "likely: a"); /* nothing is known of the one before */
    const json_t *story = json_object_get(record, "story");
    cr_assert_str_eq(json_string_value(json_object_get(story, "mistake")), "a");
    cr_assert_eq(json_array_size(json_object_get(story, "checks")), 2);
    json_decref(record);
}

Test(story, what_a_judge_has_seen_is_not_replaced_by_an_earlier_check) {
    json_t *record = json_pack("{s:[o, o]}", "checks", row("one", "fail", json_array(), ""),
                               row("two", "fail", json_array(), "one"));
    json_object_set_new(json_array_get(json_object_get(record, "checks"), 1), "mistake",
                        json_string("two threads race"));
    story_tell(record);
    cr_assert_str_eq(mistake_of(record, 1), "two threads race");
    json_decref(record);
}
