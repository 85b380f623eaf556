#include "grader/submission.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "common/testkit/scratch.h"

static const char COMPILER[] = "gcc {define} -c {in} -o {out}";

/* The message for a hand-in of one file or two, compiled as a lab would be that allows 4096 bytes,
   within some seconds; NULL if it is built. To be freed. A file that is NULL is missing; the second
   is one of the lab's where `probe` is not NULL. */
static char *build_within(double seconds, const char *compiler, const char *source,
                          const char *second, const char *probe) {
    scratch_folder();
    const char *work = scratch_path("work"), *cache = scratch_path("cache");
    mkdir(work, 0755);
    mkdir(cache, 0755);
    chmod(scratch_folder(), 0711);
    if (source != NULL) {
        scratch_file("x.c", source, strlen(source));
    }
    json_t *lab = json_pack("{s:[{s:s, s:[s]}], s:[s], s:i}", "holes", "file", "x.c", "functions",
                            "f", "uses", "_GLOBAL_OFFSET_TABLE_", "static_bytes", 4096);
    if (second != NULL) {
        scratch_file("y.c", second, strlen(second));
    }
    if (second != NULL || probe != NULL) {
        json_array_append_new(
            json_object_get(lab, "holes"),
            json_pack("{s:s, s:[s], s:s*}", "file", "y.c", "functions", "f", "probe", probe));
    }
    json_t *recipes = json_pack(
        "{s:s, s:s, s:{s:s, s:s*}, s:s, s:[], s:[]}", "c", compiler, "cu", "", "link", "probe",
        "gcc -shared {objects} -o {out}", "probe_apart",
        probe != NULL ? "gcc -shared {objects} -o {out}" : NULL, "headers", "", "read", "linked");
    Submission submission = {
        lab, recipes, scratch_folder(), work, cache, now() + seconds, false, NULL, NULL, NULL};
    Built built = submission_build(&submission);
    json_decref(built.objects);
    json_decref(recipes);
    json_decref(lab);
    scratch_remove();
    cr_assert_eq(built.good, built.message == NULL);
    return built.message;
}

static char *build_both(const char *source, const char *second) {
    return build_within(60, COMPILER, source, second, NULL);
}

static char *build(const char *source) {
    return build_both(source, NULL);
}

static void expect_refused(const char *source, const char *why) {
    char *message = build(source);
    cr_expect(message != NULL && strstr(message, why) != NULL, "%s\n  is answered: %s", source,
              message != NULL ? message : "nothing");
    free(message);
}

/* Both define f: two files of one probe could not be linked. */
Test(submission, a_file_may_be_of_another_probe) {
    const char *one = "int f(void) { return 1; }\n", *two = "int f(void) { return 2; }\n";
    char *message = build_within(60, COMPILER, one, two, "apart");
    cr_expect_null(message, "%s", message);
    free(message);
    message = build_within(60, COMPILER, one, two, NULL);
    cr_expect(message != NULL && strstr(message, "multiple definition") != NULL, "%s",
              message != NULL ? message : "nothing");
    free(message);
}

Test(submission, a_probe_of_its_own_may_be_absent) {
    const char *one = "int f(void) { return 1; }\n";
    char *message = build_within(60, COMPILER, one, NULL, "apart");
    cr_expect_null(message, "%s", message);
    free(message);
    message = build_within(60, COMPILER, NULL, one, "apart");
    cr_expect(message != NULL && strstr(message, "x.c: No such file") != NULL, "%s",
              message != NULL ? message : "nothing");
    free(message);
}

Test(submission, utf_16_has_a_sentence) {
    expect_refused("\xff\xfei", "x.c is in UTF-16: save it as UTF-8");
    expect_refused("\xfe\xff", "x.c is in UTF-16: save it as UTF-8");
}

Test(submission, a_header_that_is_not_there_has_a_sentence) {
    expect_refused("#include \"helper.h\"\n", "has no header of its own");
}

Test(submission, what_is_honest_is_built) {
    char *message = build("static int calls[64]; int f(int i) { return calls[i]++; }\n");
    cr_assert_null(message, "%s", message);
}

/* Memory that no limit of the kit sees. */
Test(submission, static_data_counts_or_is_refused) {
    const char *why = "bytes of static data";
    expect_refused("static char a[5000]; char *f(int i) { return a + i; }\n", why);
    expect_refused("static __thread char a[5000]; char *f(int i) { return a + i; }\n", why);
    expect_refused("static char a[5000] __attribute__((section(\".data.a\"))) = {1};\n"
                   "char *f(int i) { return a + i; }\n",
                   why);
    expect_refused("__attribute__((section(\"mine\"))) static char a[5000];\n"
                   "char *f(int i) { return a + i; }\n",
                   "a section of its own, `mine`");
    expect_refused("__asm__(\".section \\\"m x\\\",\\\"aw\\\"\\n.zero 5000\\n.text\");\n"
                   "int f(void) { return 0; }\n",
                   "with a name that no compiler gives");
    expect_refused("_Alignas(1 << 16) static char a[8]; char *f(int i) { return a + i; }\n", why);
}

Test(submission, nothing_runs_by_itself) {
    const char *why = "before or after main()";
    expect_refused(
        "__attribute__((constructor)) static void g(void) {}\nint f(void) { return 0; }\n", why);
    expect_refused(
        "__attribute__((destructor)) static void g(void) {}\nint f(void) { return 0; }\n", why);
    expect_refused("__asm__(\".section \\\".init_array. x\\\",\\\"aw\\\"\\n.quad 0\\n.text\");\n"
                   "int f(void) { return 0; }\n",
                   "with a name that no compiler gives");
}

Test(submission, only_the_labs_functions) {
    expect_refused("int g(void) { return 0; } int f(void) { return 0; }\n",
                   "`g` is not one of the lab's functions");
    expect_refused("int puts(const char *); int f(void) { return puts(\"\"); }\n",
                   "`puts` is not available in this lab");
}

/* An object is kept by its own source: what it includes beside the kit must not change it. */
Test(submission, no_file_includes_another) {
    const char *first = "static int one(void) { return 1; } int f(void) { return one(); }\n";
    char *message = build_both(first, "static int two; int *f2(void);\n");
    cr_expect_null(message, "%s", message);
    free(message);
    message = build_both(first, "#define f g\n#include \"x.c\"\n");
    cr_expect(message != NULL && strstr(message, "x.c: No such file") != NULL, "%s",
              message != NULL ? message : "nothing");
    free(message);
}

/* Whether a hand-in that calls malloc() or free() calls a rank's own heap in its program. */
static bool has_heap_of_rank(bool ranks) {
    static const char source[] = "#include <stdlib.h>\n"
                                 "void *f(void) { free(malloc(8)); return calloc(1, 8); }\n";
    scratch_folder();
    const char *work = scratch_path("work"), *cache = scratch_path("cache");
    mkdir(work, 0755);
    mkdir(cache, 0755);
    chmod(scratch_folder(), 0711);
    scratch_file("x.c", source, strlen(source));
    json_t *lab = json_pack("{s:[{s:s, s:[s]}], s:[s, s, s, s], s:i, s:b}", "holes", "file", "x.c",
                            "functions", "f", "uses", "malloc", "calloc", "free",
                            "_GLOBAL_OFFSET_TABLE_", "static_bytes", 4096, "ranks", ranks);
    json_t *recipes =
        json_pack("{s:s, s:s, s:{s:s}, s:s, s:[], s:[]}", "c",
                  "gcc -O0 -fno-builtin {define} -c {in} -o {out}", "cu", "", "link", "probe",
                  "gcc -shared {objects} -o {out} && nm -u {objects} | tr '\\n' ' ' "
                  "| grep -q 'U rank_calloc  *U rank_free  *U rank_malloc'",
                  "headers", "", "read", "linked");
    Submission submission = {lab,  recipes, scratch_folder(), work, cache, now() + 60, false, NULL,
                             NULL, NULL};
    Built built = submission_build(&submission);
    bool good = built.good;
    free(built.message);
    json_decref(built.objects);
    json_decref(recipes);
    json_decref(lab);
    scratch_remove();
    return good;
}

Test(submission, ranks_have_a_heap_each) {
    cr_assert(has_heap_of_rank(true));
    cr_assert_not(has_heap_of_rank(false));
}

/* The program made of a hand-in with one part of the kit's, run: its status; -1 if it is not
   built. */
static int run_with_part(const char *compiler, const char *part, const char *own,
                         const char *kits) {
    scratch_folder();
    const char *work = scratch_path("work"), *cache = scratch_path("cache");
    const char *solutions = scratch_path("solutions");
    mkdir(work, 0755);
    mkdir(cache, 0755);
    mkdir(solutions, 0755);
    chmod(scratch_folder(), 0711);
    scratch_file("x.c", own, strlen(own));
    scratch_file("solutions/x.c", kits, strlen(kits));
    json_t *lab =
        json_pack("{s:[{s:s, s:[s, s, s]}], s:[s, s], s:i}", "holes", "file", "x.c", "functions",
                  "f", "g", "main", "uses", "_GLOBAL_OFFSET_TABLE_", "f", "static_bytes", 4096);
    json_t *recipes =
        json_pack("{s:s, s:s, s:{s:s}, s:s, s:[], s:[]}", "c", compiler, "cu", "", "link", "probe",
                  "gcc {objects} -o {out}", "headers", "", "read", "linked");
    Submission submission = {lab,   recipes, scratch_folder(), work, cache, now() + 60,
                             false, part,    solutions,        NULL};
    Built built = submission_build(&submission);
    int status = built.good ? system(built.probe) : -1;
    free(built.message);
    json_decref(built.objects);
    json_decref(recipes);
    json_decref(lab);
    scratch_remove();
    return status < 0 ? -1 : WEXITSTATUS(status);
}

/* f is 1 here and 2 there, g is f times 10 here and times 100 there; main() asks for g. */
Test(submission, one_part_can_be_the_kits) {
    static const char own[] = "int f(void) { return 1; }\nint g(void) { return 10 * f(); }\n"
                              "int main(void) { return g(); }\n";
    static const char kits[] = "int f(void) { return 2; }\nint g(void) { return 100 * f(); }\n"
                               "int main(void) { return 99; }\n";
    static const char *const compilers[] = {
        "gcc -O3 -ffunction-sections {define} -c {in} -o {out}",
        "clang -O3 -ffunction-sections {define} -c {in} -o {out}"};
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(run_with_part(compilers[i], "f", own, kits), 20, "%s", compilers[i]);
        cr_expect_eq(run_with_part(compilers[i], "g", own, kits), 100, "%s", compilers[i]);
        cr_expect_eq(run_with_part(compilers[i], "x.c", own, kits), 99, "%s", compilers[i]);
    }
}

/* Whose own calls go past the name says nothing: the other function would not be called. */
Test(submission, a_bound_call_is_no_part) {
    static const char own[] =
        "int f(void) { return 1; }\n"
        "static int also_f(void) __attribute__((alias(\"f\")));\n"
        "int g(void) { return 10 * also_f(); }\nint main(void) { return g(); }\n";
    int status =
        run_with_part("gcc -O0 -ffunction-sections {define} -c {in} -o {out}", "f", own, own);
    cr_expect_eq(status, -1, "it was built, and ends with %d", status);
}

/* Two files, each compiled well within a compiler's own limit. */
Test(submission, all_files_together_have_a_limit) {
    const char *slowly = "sleep 2; gcc {define} -c {in} -o {out}";
    double begin = now();
    char *message = build_within(3, slowly, "int f(void) { return 0; }\n", "int f2(void);\n", NULL);
    cr_expect(message != NULL && strstr(message, "all files together took too long") != NULL, "%s",
              message != NULL ? message : "nothing");
    cr_expect(now() - begin < 5, "after %g s", now() - begin);
    free(message);
}

/* The message for a hand-in that lacks its only file, which the kit has. */
static char *build_without(bool given) {
    static const char kits[] = "int f(void) { return 1; }\n";
    scratch_folder();
    const char *work = scratch_path("work"), *cache = scratch_path("cache");
    const char *kit = scratch_path("kit");
    mkdir(work, 0755);
    mkdir(cache, 0755);
    mkdir(kit, 0755);
    chmod(scratch_folder(), 0711);
    scratch_file("kit/x.c", kits, strlen(kits));
    json_t *lab =
        json_pack("{s:[{s:s, s:[s], s:b}], s:[s], s:i}", "holes", "file", "x.c", "functions", "f",
                  "given", given, "uses", "_GLOBAL_OFFSET_TABLE_", "static_bytes", 4096);
    json_t *recipes =
        json_pack("{s:s, s:s, s:{s:s}, s:s, s:[], s:[]}", "c", COMPILER, "cu", "", "link", "probe",
                  "gcc -shared {objects} -o {out}", "headers", "", "read", "linked");
    Submission submission = {lab,  recipes, scratch_folder(), work, cache, now() + 60, false, NULL,
                             NULL, kit};
    Built built = submission_build(&submission);
    json_decref(built.objects);
    json_decref(recipes);
    json_decref(lab);
    scratch_remove();
    return built.message;
}

Test(submission, a_given_file_may_be_missing) {
    char *message = build_without(true);
    cr_expect_null(message, "%s", message);
    free(message);
    message = build_without(false);
    cr_expect(message != NULL && strstr(message, "x.c: No such file") != NULL, "%s",
              message != NULL ? message : "nothing");
    free(message);
}
