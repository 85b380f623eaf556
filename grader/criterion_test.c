#include "grader/criterion.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The sentence of a judge that has said `text` on stderr; NULL: it has said nothing. */
static char *fault_of(const char *text) {
    char folder[] = "/tmp/judge-XXXXXX", path[64];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/said", folder);
    FILE *said = text != NULL ? fopen(path, "w") : NULL;
    if (said != NULL) {
        fputs(text, said);
        fclose(said);
    }
    char *fault = criterion_fault(&(Judge){.folder = folder});
    remove(path);
    rmdir(folder);
    return fault;
}

static void says(const char *text, const char *expected) {
    char *fault = fault_of(text);
    cr_expect_not_null(strstr(fault, expected), "%s", fault);
    free(fault);
}

Test(criterion, the_judges_own_fault_is_told) {
    says("[----] a worker\nwhole.c:20: CHECK(a > b) failed: 2 of 3\n[----] it ended\n",
         "a fault of the judge: whole.c:20: CHECK(a > b) failed: 2 of 3");
    says("a.c:1: CHECK(a) failed: 1\nb.c:2: CHECK(b) failed: 2\n", "b.c:2: CHECK(b)");
    says("[----] a worker\n", "it crashed, or had no time left");
    says(NULL, "it crashed, or had no time left");
}
