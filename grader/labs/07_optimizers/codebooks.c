#include "grader/labs/07_optimizers/codebooks.h"

#include <math.h>

#include "grader/labs/07_optimizers/eight.h"
#include "grader/labs/07_optimizers/term.h"

/* How many values are the same, from the first on; of 0 the sign does not matter. */
static int values_in_common(const float *a, const float *b) {
    int same = 0;
    while (same < ADAM8_CODES && a[same] == b[same]) {
        same++;
    }
    return same;
}

static bool same_book(const float *a, const float *b) {
    return values_in_common(a, b) == ADAM8_CODES;
}

static void insert(float *book, int count, double value) {
    int at = count;
    for (; at > 0 && book[at - 1] > (float)value; at--) {
        book[at] = book[at - 1];
    }
    book[at] = (float)value;
}

/* The codebook with other places in its parts than the right ones, other decades, another end. */
static void book_with(float *book, bool is_signed, double place, int lowest, double end,
                      bool minus_one) {
    int count = 0;
    for (int e = 0; e < 7; e++) {
        int parts = (is_signed ? 1 : 2) << e;
        for (int j = 0; j < parts; j++) {
            double value = (0.1 + 0.9 * (j + place) / parts) * pow(10, e + lowest);
            insert(book, count++, value);
            if (is_signed) {
                insert(book, count++, -value);
            }
        }
    }
    insert(book, count++, minus_one ? -1 : 0);
    insert(book, count++, end);
}

static bool nearly(const float *got, const float *want) {
    for (int i = 0; i < ADAM8_CODES; i++) {
        if (!(fabsf(got[i] - want[i]) <= 4 * 0x1p-23f * fabsf(want[i]))) {
            return false;
        }
    }
    return true;
}

static bool same_values(const float *got, const float *want) {
    float sorted[ADAM8_CODES];
    for (int i = 0; i < ADAM8_CODES; i++) {
        insert(sorted, i, (double)got[i]);
    }
    return same_book(sorted, want) && !same_book(got, want);
}

static void linear_book(float *book, bool is_signed) {
    for (int i = 0; i < ADAM8_CODES; i++) {
        book[i] = is_signed ? (float)((i - 127) / 128.0) : (float)(i / 255.0);
    }
}

void codebook_expect(Check *check, bool is_signed) {
    check_want(check, "values", WIRE_F32, ADAM8_CODES);
    if (!check_run(check, is_signed ? "codebook_signed" : "codebook_unsigned", SECONDS)) {
        return;
    }
    Codebooks books = eight_books();
    const float *got = check_got(check, "values", WIRE_F32);
    const float *want = is_signed ? books.m : books.v, *other = is_signed ? books.v : books.m;
    int same = values_in_common(got, want), wrong = same < ADAM8_CODES ? same : 0;
    check_compared(check, same_book(got, want), "value %d of 256: got %.9g, want %.9g", wrong,
                   (double)got[wrong], (double)want[wrong]);
    float edge[ADAM8_CODES], upper[ADAM8_CODES], low[ADAM8_CODES], high[ADAM8_CODES];
    float one[ADAM8_CODES], line[ADAM8_CODES];
    book_with(edge, is_signed, 0, -6, 1, false);
    book_with(upper, is_signed, 1, -6, 1, false);
    book_with(low, is_signed, TERM_POINT_IS, -7, 1, false);
    book_with(high, is_signed, TERM_POINT_IS, -5, 1, false);
    book_with(one, is_signed, TERM_POINT_IS, -6, 1, true);
    linear_book(line, is_signed);
    check_suspect(check,
                  "the values are the lower ends of the parts: the contract names another point",
                  same_book(got, edge));
    check_suspect(check,
                  "the values are the upper ends of the parts: the contract names another point",
                  same_book(got, upper));
    const Term term = TERM_POINT;
    const double point[] = TERM_POINT_EACH;
    bool fits[TERM_MOST] = {false};
    for (int k = 0; k < term.count; k++) {
        float book[ADAM8_CODES];
        book_with(book, is_signed, point[k], -6, 1, false);
        fits[k] = same_book(got, book);
    }
    check_suspect_term(check, &term, fits);
    check_suspect(check, "a power of 10 too small: the factor of exponent e is 10^(e - 6)",
                  same_book(got, low));
    /* half of them lie beyond 1, which the program may have left in the last place */
    check_suspect(check, "a power of 10 too large: the factor of exponent e is 10^(e - 6)",
                  same_book(got, high) || same_values(got, high));
    check_suspect(check, "-1 stands where 0 should: zeros are what most moments are",
                  same_book(got, one));
    check_suspect(check, "the values are at equal distances: a dynamic codebook has decades",
                  same_book(got, line));
    check_suspect(check,
                  "this is the other codebook: one has negatives, the other has twice the parts",
                  same_book(got, other));
    check_suspect(check, "the values are right, in another order: they rise",
                  same_values(got, want));
    check_suspect(check, "nearly right: work in double, and round to float once",
                  !same_book(got, want) && nearly(got, want));
}
