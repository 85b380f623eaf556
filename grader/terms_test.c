/* Another term's value is named in words, and this one's never. */
#include "grader/terms.h"

#include <criterion/criterion.h>

static const Term term = {.now = 1, .count = 3, .says = {"0.95", "0.98", "0.99"}};

Test(terms, a_mistake_names_both_values) {
    char text[TERM_TEXT];
    cr_expect_str_eq(term_mistake(&term, 2, text),
                     "the task of another term (0.99); this term's page says: 0.98");
}

/* Where the values `fits` would give what came back, which is wrong. */
static void expect_likely(const bool fits[3], const char *likely) {
    Suspicion *suspicion = suspicion_new();
    term_vote(suspicion, &term, true, fits);
    Verdict verdict = suspicion_settle(suspicion);
    cr_expect_str_eq(verdict.text, likely);
    suspicion_free(suspicion);
}

Test(terms, the_value_that_fits_is_suspected) {
    expect_likely((bool[]){true, false, false},
                  "likely: the task of another term (0.95); this term's page says: 0.98");
}

Test(terms, the_present_value_is_no_mistake) {
    expect_likely((bool[]){false, true, false}, "");
}
