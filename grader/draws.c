/* Many draws of a check's inputs. The contract is in draws.h. */
#include "grader/draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grader/check_state.h"
#include "kernels/base.h"

enum { MOST_MISTAKES = 200, MOST_SIZES = 32, SENTENCE = 160, MOST_TOLD = 20 };

/* A mistake, and the ones that would be seen to be others: column 0 is what is right. */
typedef struct KnownMistake {
    char sentence[SENTENCE];
    int variant;
    bool seen; /* somewhere it is not what is right */
    bool apart[MOST_MISTAKES];
} KnownMistake;

typedef struct Size {
    char clause[SENTENCE];
    bool reached;
} Size;

struct Draw {
    uint64_t seed;
    KnownMistake mistake[MOST_MISTAKES];
    int mistakes;
    Size size[MOST_SIZES];
    int sizes;
};

static Draw *now_drawn;

Draw *draw_now(void) {
    return now_drawn;
}

uint64_t draw_seed(const Draw *draw) {
    return draw->seed;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static int mistake_find(Draw *draw, const char *sentence, int variant) {
    char cut[SENTENCE];
    snprintf(cut, sizeof cut, "%s", sentence);
    for (int i = 0; i < draw->mistakes; i++) {
        if (draw->mistake[i].variant == variant && strcmp(draw->mistake[i].sentence, cut) == 0) {
            return i;
        }
    }
    CHECK(draw->mistakes < MOST_MISTAKES, "more than %d mistakes in a check", MOST_MISTAKES);
    KnownMistake *new = &draw->mistake[draw->mistakes];
    *new = (KnownMistake){.variant = variant};
    memcpy(new->sentence, cut, sizeof cut);
    /* Those before would have given something wrong where this one was not asked. */
    for (int i = 0; i < draw->mistakes; i++) {
        new->apart[i] = draw->mistake[i].apart[draw->mistakes] = draw->mistake[i].seen;
    }
    return draw->mistakes++;
}

/* The mistakes of one comparison, by number; which are wrong there; whether two of them differ. */
typedef struct Compared {
    int count;
    int number[MOST_MISTAKES];
    bool wrong[MOST_MISTAKES];
    bool (*differ)(const struct Compared *compared, int i, int j);
    const void *suspects;
    size_t n;
    Tolerance tolerance;
} Compared;

static void draw_note(Draw *draw, const Compared *compared) {
    bool asked[MOST_MISTAKES] = {false};
    for (int i = 0; i < compared->count; i++) {
        asked[compared->number[i]] = true;
    }
    for (int i = 0; i < compared->count; i++) {
        int a = compared->number[i];
        KnownMistake *mistake = &draw->mistake[a];
        mistake->seen |= compared->wrong[i];
        for (int j = 0; j < i; j++) {
            int b = compared->number[j];
            if (!mistake->apart[b] && compared->differ(compared, i, j)) {
                mistake->apart[b] = draw->mistake[b].apart[a] = true;
            }
        }
        for (int b = 0; b < draw->mistakes && compared->wrong[i]; b++) {
            if (!asked[b]) {
                mistake->apart[b] = draw->mistake[b].apart[a] = true;
            }
        }
    }
}

static bool floats_differ(const double *a, const double *b, size_t n, Tolerance tolerance) {
    float *got = malloc((n + 1) * sizeof *got);
    CHECK(got != NULL, "no memory for %zu numbers", n);
    bool finite = true, equal = true;
    for (size_t i = 0; i < n; i++) {
        got[i] = (float)a[i];
        finite = finite && isfinite(a[i]) && isfinite(b[i]);
        equal = equal && a[i] == b[i];
    }
    bool differ = !equal && (!finite || !compare(got, b, n, tolerance).pass);
    free(got);
    return differ;
}

static bool suspects_differ(const Compared *compared, int i, int j) {
    const Suspect *suspects = compared->suspects;
    return floats_differ(suspects[i].values, suspects[j].values, compared->n, compared->tolerance);
}

void draw_floats(Draw *draw, const double *want, size_t n, Tolerance tolerance,
                 const Suspect *suspects, int count) {
    CHECK(count <= MOST_MISTAKES, "%d mistakes of one tensor", count);
    Compared compared = {.count = count,
                         .differ = suspects_differ,
                         .suspects = suspects,
                         .n = n,
                         .tolerance = tolerance};
    for (int i = 0; i < count; i++) {
        int variant = 0;
        for (int k = 0; k < i; k++) {
            variant += strcmp(suspects[k].sentence, suspects[i].sentence) == 0;
        }
        compared.number[i] = mistake_find(draw, suspects[i].sentence, variant);
        compared.wrong[i] = floats_differ(suspects[i].values, want, n, tolerance);
    }
    draw_note(draw, &compared);
}

static bool numbers_differ(const Compared *compared, int i, int j) {
    const ExactSuspect *suspects = compared->suspects;
    return memcmp(suspects[i].values, suspects[j].values, compared->n * sizeof(uint64_t)) != 0;
}

void draw_numbers(Draw *draw, const uint64_t *want, size_t n, const ExactSuspect *suspects,
                  int count) {
    CHECK(count <= MOST_MISTAKES, "%d mistakes of one list", count);
    Compared compared = {.count = count, .differ = numbers_differ, .suspects = suspects, .n = n};
    for (int i = 0; i < count; i++) {
        int variant = 0;
        for (int k = 0; k < i; k++) {
            variant += strcmp(suspects[k].sentence, suspects[i].sentence) == 0;
        }
        compared.number[i] = mistake_find(draw, suspects[i].sentence, variant);
        compared.wrong[i] = memcmp(suspects[i].values, want, n * sizeof *want) != 0;
    }
    draw_note(draw, &compared);
}

void check_size(Check *check, const char *clause, bool reached) {
    (void)check;
    Draw *draw = now_drawn;
    for (int i = 0; draw != NULL && i < draw->sizes; i++) {
        if (strcmp(draw->size[i].clause, clause) == 0) {
            draw->size[i].reached |= reached;
            return;
        }
    }
    if (draw != NULL) {
        CHECK(draw->sizes < MOST_SIZES, "more than %d sizes in a check", MOST_SIZES);
        Size *size = &draw->size[draw->sizes++];
        snprintf(size->clause, sizeof size->clause, "%s", clause);
        size->reached = reached;
    }
}

/* ---- all draws ------------------------------------------------------------------------------- */

/* The number of a mistake, or -1. */
static int mistake_number(const Draw *draw, const KnownMistake *mistake) {
    int i = 0;
    while (i < draw->mistakes && (draw->mistake[i].variant != mistake->variant ||
                                  strcmp(draw->mistake[i].sentence, mistake->sentence) != 0)) {
        i++;
    }
    return i < draw->mistakes ? i : -1;
}

/* Mistakes that give other numbers than what is right, and the same as each other. */
static bool draw_together(const Draw *draw, int i, int j) {
    const KnownMistake *a = &draw->mistake[i], *b = &draw->mistake[j];
    return a->seen && b->seen && !a->apart[j] && strcmp(a->sentence, b->sentence) != 0;
}

static int problem(const char *check, uint64_t seed, const char *what, const char *one,
                   const char *other) {
    printf("%s, SEED=%llx: %s: %s%s%s\n", check, (unsigned long long)seed, what, one,
           *other != '\0' ? " | " : "", other);
    return 1;
}

/* A report must not depend on the seed: the differences from the first draw. */
static int draw_differs(const Draw *draw, const Draw *first, const char *check) {
    int problems = 0, in_first[MOST_MISTAKES];
    for (int i = 0; i < draw->mistakes; i++) {
        in_first[i] = mistake_number(first, &draw->mistake[i]);
        if (in_first[i] >= 0 && draw->mistake[i].seen != first->mistake[in_first[i]].seen) {
            problems += problem(check, draw->seed, "seen with some seeds only",
                                draw->mistake[i].sentence, "");
        }
        for (int j = 0; j < i && in_first[i] >= 0; j++) {
            if (in_first[j] >= 0 &&
                draw_together(draw, i, j) != draw_together(first, in_first[i], in_first[j])) {
                problems += problem(check, draw->seed, "the same with some seeds only",
                                    draw->mistake[j].sentence, draw->mistake[i].sentence);
            }
        }
    }
    for (int i = 0; i < draw->sizes; i++) {
        if (!draw->size[i].reached) {
            problems += problem(check, draw->seed, "not reached", draw->size[i].clause, "");
        }
    }
    return problems;
}

/* All checks of a lab together: the mistakes seen in one of them, and the pairs distinguished. */
static void lab_add(Draw *lab, bool (*together)[MOST_MISTAKES], const Draw *draw) {
    int number[MOST_MISTAKES];
    for (int i = 0; i < draw->mistakes; i++) {
        const KnownMistake *mistake = &draw->mistake[i];
        number[i] = mistake_number(lab, mistake);
        if (number[i] < 0) {
            number[i] = lab->mistakes;
            CHECK(lab->mistakes < MOST_MISTAKES, "more than %d mistakes in a lab", MOST_MISTAKES);
            lab->mistake[lab->mistakes] = (KnownMistake){.variant = mistake->variant};
            memcpy(lab->mistake[lab->mistakes++].sentence, mistake->sentence, SENTENCE);
        }
        lab->mistake[number[i]].seen |= mistake->seen;
        for (int j = 0; j < i; j++) {
            int a = number[i], b = number[j];
            together[a][b] |= draw_together(draw, i, j);
            lab->mistake[a].apart[b] |=
                mistake->seen && draw->mistake[j].seen && !draw_together(draw, i, j);
            together[b][a] = together[a][b];
            lab->mistake[b].apart[a] = lab->mistake[a].apart[b];
        }
    }
}

static int lab_tell(const Draw *lab, bool (*together)[MOST_MISTAKES]) {
    int problems = 0;
    for (int i = 0; i < lab->mistakes; i++) {
        const KnownMistake *a = &lab->mistake[i];
        if (!a->seen) {
            problems += problem("all checks", lab->seed, "right everywhere", a->sentence, "");
        }
        for (int j = 0; j < i; j++) {
            if (together[i][j] && !a->apart[j]) {
                problems += problem("all checks", lab->seed, "never told apart", a->sentence,
                                    lab->mistake[j].sentence);
            }
        }
    }
    return problems;
}

static Draw *draw_make(Draw *draw, const CheckPlan *plan, int number) {
    *draw = (Draw){.seed = (uint64_t)number * 0x9e3779b97f4a7c15u + 1};
    now_drawn = draw;
    Check *check = check_begin(plan);
    plan->body(check);
    check_end(check);
    now_drawn = NULL;
    return draw;
}

int draws_make(const CheckPlan *const *plans, int count, int draws, const char *only) {
    static Draw first, draw, lab;
    static bool together[MOST_MISTAKES][MOST_MISTAKES];
    int problems = 0;
    for (int i = 0; i < count; i++) {
        if (only != NULL && strcmp(only, plans[i]->name) != 0) {
            continue;
        }
        lab_add(&lab, together, draw_make(&first, plans[i], 0));
        int of_check = draw_differs(&first, &first, plans[i]->name), made = 1;
        for (; made < draws && of_check < MOST_TOLD; made++) {
            of_check += draw_differs(draw_make(&draw, plans[i], made), &first, plans[i]->name);
        }
        printf("%-22s %d draws, %d mistakes\n", plans[i]->name, made, first.mistakes);
        fflush(stdout);
        problems += of_check;
    }
    problems += only == NULL ? lab_tell(&lab, together) : 0;
    printf("draws: %d problems\n", problems);
    return problems;
}
