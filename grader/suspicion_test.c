/* A mistake is known only where it explains everything. */
#include "grader/suspicion.h"

#include <criterion/criterion.h>
#include <string.h>

static void vote(Suspicion *s, const char *sentence, const char *scope, bool wrong, bool fits) {
    suspicion_vote(s, sentence, 0, scope, wrong, fits);
}

static void expect_text(Suspicion *s, const char *text) {
    Verdict verdict = suspicion_settle(s);
    cr_expect_str_eq(verdict.text, text);
    suspicion_free(s);
}

Test(suspicion, what_explains_one_case_only_is_not_known) {
    Suspicion *s = suspicion_new();
    suspicion_next(s);
    vote(s, "a", "", true, true);
    vote(s, "b", "", true, true);
    suspicion_next(s);
    vote(s, "a", "", true, false);
    vote(s, "b", "", true, true);
    expect_text(s, "likely: b");
}

Test(suspicion, what_would_be_wrong_where_all_is_right_is_refuted) {
    Suspicion *s = suspicion_new();
    vote(s, "a", "", true, true);
    vote(s, "a", "", false, false);
    expect_text(s, "");
}

Test(suspicion, of_two_that_explain_all_both_are_told) {
    Suspicion *s = suspicion_new();
    vote(s, "a", "", true, true);
    vote(s, "b", "", true, true);
    expect_text(s, "likely: one of these: a; or: b");
}

Test(suspicion, a_mistake_in_one_tensor_is_told_of_that_tensor) {
    Suspicion *s = suspicion_new();
    vote(s, "a", "wte", false, false);
    vote(s, "a", "wpe", true, true);
    vote(s, "a", "wpe", true, true);
    expect_text(s, "likely: wpe alone: a");
}

Test(suspicion, variants_of_a_mistake_do_not_share_their_votes) {
    Suspicion *s = suspicion_new();
    suspicion_vote(s, "a", 0, "", true, true);
    suspicion_vote(s, "a", 1, "", true, false);
    suspicion_vote(s, "a", 0, "", true, false);
    suspicion_vote(s, "a", 1, "", true, true);
    expect_text(s, "");
}
