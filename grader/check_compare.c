/* A check compares: what is right, what is known of what is wrong. The contract is in check.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/unset.h"
#include "grader/check_state.h"
#include "grader/draws.h"

void check_good(Check *check) {
    check->compared++;
}

void check_after(Check *check, const char *names) {
    snprintf(check->after, sizeof check->after, "%s", names);
}

void check_fail(Check *check, const char *sentence, ...) {
    if (check->state == ROW_PASS) {
        check->state = ROW_FAIL;
    }
    /* After a comparison that found nothing, or too small a budget, this is the sentence. */
    bool wanted = check->state == ROW_FAIL || check->state == ROW_OVER_BUDGET;
    if (wanted && check->mistake[0] == '\0') {
        va_list values;
        va_start(values, sentence);
        vsnprintf(check->mistake, sizeof check->mistake, sentence, values);
        va_end(values);
        check->failed_after = suspicion_count(check->suspicion);
    }
}

void check_tell(Check *check, const char *text, ...) {
    size_t length = strlen(check->message);
    va_list values;
    va_start(values, text);
    vsnprintf(check->message + length, sizeof check->message - length, text, values);
    va_end(values);
}

void check_not_run(Check *check, const char *reason) {
    check_conclude(check, ROW_NOT_RUN, "%s", reason);
}

/* ---- floats ---------------------------------------------------------------------------------- */

/* Of what a mistake gives: who divides by 0 is not known by a NaN that has many causes. */
static bool finite_as(const double *values, const double *want, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]) && isfinite(want[i])) {
            return false;
        }
    }
    return true;
}

static bool shapes_agree(DifferenceShape a, DifferenceShape b) {
    enum { PERCENT = 100 };
    return a.kind == b.kind && fabs(a.factor - b.factor) * PERCENT <= fabs(a.factor);
}

/* A difference has a shape if all wrong tensors have it. */
static void note_shape(Check *check, const char *name, const float *got, const double *want,
                       size_t n, Tolerance tolerance) {
    DifferenceShape shape = comparison_kind(got, want, n, tolerance);
    bool as_given = wire_has(check->in, name, WIRE_F32, n) &&
                    memcmp(got, wire_get(check->in, name, WIRE_F32, NULL), n * sizeof *got) == 0;
    if (as_given && check->shaped[0] == '\0') {
        snprintf(check->as_given, sizeof check->as_given, "%s", name);
    }
    if (check->shaped[0] == '\0') {
        snprintf(check->shaped, sizeof check->shaped, "%s", name);
        check->shape = shape;
    } else if (!shapes_agree(check->shape, shape)) {
        check->shape.kind = SHAPE_NONE;
    }
    check->shapes += n > 1 || shape.kind != SHAPE_FACTOR;
}

static void tell_shape(Check *check) {
    char text[COMPARISON_TEXT];
    if (check->as_given[0] != '\0') {
        snprintf(check->mistake, sizeof check->mistake, "%s is still as it was given",
                 check->as_given);
    } else if (check->shape.kind != SHAPE_NONE && check->shapes > 0) {
        snprintf(check->mistake, sizeof check->mistake, "%s%s: %s", check->shaped,
                 check->shapes > 1 ? ", and all else that is wrong" : "",
                 shape_text(check->shape, text));
    }
}

/* Nothing was handed back, or what came back is memory that nobody has written. */
static bool never_written(const float *got, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &got[i], sizeof bits);
        if (bits != UINT32_MAX) {
            return false;
        }
    }
    return n > 0;
}

/* Mistakes before i that have the same sentence. */
static int variant_of(const Suspect *suspects, int i) {
    int variant = 0;
    for (int k = 0; k < i; k++) {
        variant += strcmp(suspects[k].sentence, suspects[i].sentence) == 0;
    }
    return variant;
}

bool check_close_in(Check *check, const char *scope, const char *name, const double *want, size_t n,
                    Tolerance tolerance, const Suspect *suspects, int suspect_count) {
    const float *got = wire_get(check->out, name, WIRE_F32, NULL);
    if (draw_now() != NULL) {
        draw_floats(draw_now(), want, n, tolerance, suspects, suspect_count);
        for (size_t i = 0; i < n; i++) { /* what follows from it will be right */
            ((float *)(uintptr_t)got)[i] = (float)want[i];
        }
        return true;
    }
    Comparison comparison = compare_data(got, want, n, tolerance);
    suspicion_next(check->suspicion);
    for (int i = 0; i < suspect_count; i++) {
        bool fits = finite_as(suspects[i].values, want, n) &&
                    compare_data(got, suspects[i].values, n, tolerance).pass;
        suspicion_vote(check->suspicion, suspects[i].sentence, variant_of(suspects, i), scope,
                       !comparison.pass, fits);
    }
    if (comparison.pass) {
        check->compared++;
        check_near(check, comparison.share);
        return true;
    }
    char text[COMPARISON_TEXT];
    if (never_written(got, n)) {
        check_conclude(check, ROW_FAIL,
                       "%s: nothing was written there, or NaN was, as by += (all of it is NaN)",
                       name);
    } else {
        check_conclude(check, ROW_FAIL, "%s", comparison_text(&comparison, name, text));
    }
    note_shape(check, name, got, want, n, tolerance);
    return false;
}

bool check_close(Check *check, const char *name, const double *want, size_t n, Tolerance tolerance,
                 const Suspect *suspects, int suspect_count) {
    return check_close_in(check, "", name, want, n, tolerance, suspects, suspect_count);
}

/* ---- whole numbers --------------------------------------------------------------------------- */

/* "windows is 4, should be 3: +1", with the number's name where it has one. */
static void tell_number(Check *check, const char *name, CheckLabel *label, size_t i, size_t n,
                        uint64_t got, uint64_t want) {
    char text[CHECK_LABEL], what[CHECK_TEXT / 4];
    if (label != NULL) {
        snprintf(what, sizeof what, "%s: %s", name, label(i, text));
    } else if (n > 1) {
        snprintf(what, sizeof what, "%s[%zu]", name, i);
    } else {
        snprintf(what, sizeof what, "%s", name);
    }
    if (got == UINT64_MAX) { /* as the judge has filled it, or -1 */
        check_conclude(check, ROW_FAIL, "%s: nothing came back (or -1), should be %llu", what,
                       (unsigned long long)want);
    } else {
        const char *unset = unset_number(got) ? ", as of a variable that was never set" : "";
        check_conclude(check, ROW_FAIL, "%s is %lld%s, should be %llu: %+lld", what, (long long)got,
                       unset, (unsigned long long)want, (long long)(got - want));
    }
}

bool check_equal_of(Check *check, const char *name, CheckLabel *label, const uint64_t *want,
                    size_t n, const ExactSuspect *suspects, int suspect_count) {
    const uint64_t *got = wire_get(check->out, name, WIRE_U64, NULL);
    if (draw_now() != NULL) {
        draw_numbers(draw_now(), want, n, suspects, suspect_count);
        memcpy((void *)(uintptr_t)got, want, n * sizeof *want);
        return true;
    }
    size_t wrong = 0;
    while (wrong < n && got[wrong] == want[wrong]) {
        wrong++;
    }
    suspicion_next(check->suspicion);
    for (int i = 0; i < suspect_count; i++) {
        int variant = 0;
        for (int k = 0; k < i; k++) {
            variant += strcmp(suspects[k].sentence, suspects[i].sentence) == 0;
        }
        suspicion_vote(check->suspicion, suspects[i].sentence, variant, "", wrong < n,
                       memcmp(got, suspects[i].values, n * sizeof *got) == 0);
    }
    if (wrong == n) {
        check->compared++;
        return true;
    }
    tell_number(check, name, label, wrong, n, got[wrong], want[wrong]);
    return false;
}

bool check_equal(Check *check, const char *name, const uint64_t *want, size_t n,
                 const ExactSuspect *suspects, int suspect_count) {
    return check_equal_of(check, name, NULL, want, n, suspects, suspect_count);
}

/* ---- the check's own comparisons ------------------------------------------------------------- */

bool check_compared(Check *check, bool right, const char *seen, ...) {
    right = right || draw_now() != NULL;
    suspicion_next(check->suspicion);
    check->own_right = right;
    check->compared += right;
    if (!right) {
        char text[CHECK_TEXT];
        va_list values;
        va_start(values, seen);
        vsnprintf(text, sizeof text, seen, values);
        va_end(values);
        check_conclude(check, ROW_FAIL, "%s", text);
    }
    return right;
}

void check_near(Check *check, double share) {
    check->nearest = share <= 1 ? fmax(check->nearest, share) : check->nearest;
}

void check_suspect(Check *check, const char *sentence, bool fits) {
    suspicion_vote(check->suspicion, sentence, 0, "", !check->own_right, fits);
}

void check_suspect_term(Check *check, const Term *term, const bool *fits) {
    term_vote(check->suspicion, term, !check->own_right, fits);
}

json_t *check_settle(Check *check) {
    json_t *sentences = json_array();
    if (check->state != ROW_FAIL) {
        return sentences;
    }
    Verdict verdict = suspicion_settle(check->suspicion);
    bool first = check->mistake[0] == '\0' || verdict.since <= check->failed_after;
    if (verdict.text[0] != '\0' && first) {
        snprintf(check->mistake, sizeof check->mistake, "%s", verdict.text);
        for (int i = 0; i < verdict.count; i++) {
            json_array_append_new(sentences, json_string(verdict.sentence[i]));
        }
    } else if (check->mistake[0] == '\0') {
        tell_shape(check);
    }
    return sentences;
}
