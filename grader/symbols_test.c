/* Listings as nm and objdump print them, and as an intruder would forge them. */
#define _GNU_SOURCE
#include "grader/symbols.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ranks; /* whether the lab has some */

/* The message about a list of symbols and one of sections; to be freed. */
static char *said_of(const char *file, const char *symbols, const char *sections) {
    json_t *lab =
        json_pack("{s:[{s:s, s:[s]}, {s:s, s:[s], s:b}, {s:s, s:[s], s:[s]}], s:[s], "
                  "s:{s:s, s:s, s:s, s:s}, s:i, s:b}",
                  "holes", "file", "loop.c", "functions", "loop_step", "file", "cast.cu",
                  "functions", "cast_gpu", "precisions", 1, "file", "loop_test.c", "functions",
                  "test_clip", "uses", "loop_try", "uses", "json_*", "instead", "malloc",
                  "memory is given", "printf", "take it out", "cublasGemmEx", "by hand",
                  "cudaMallocAsync", "none is allocated", "static_bytes", 4096, "ranks", ranks);
    char *first = strdup(symbols), *second = NULL;
    cr_assert(asprintf(&second,
                       "\nloop.o:     file format elf64-x86-64\n\nSections:\n"
                       "Idx Name          Size      VMA               LMA               File off  "
                       "Algn  Flags\n%s",
                       sections) > 0);
    char *refused = symbols_refused(lab, file, first, second);
    free(first);
    free(second);
    json_decref(lab);
    return refused;
}

static char *said(const char *symbols, const char *sections) {
    return said_of("loop.c", symbols, sections);
}

#define PLACE "0000000000000000  0000000000000000  00000040  2**0  "
#define TEXT "  0 .text         00000010  " PLACE "CONTENTS, ALLOC, LOAD, READONLY, CODE\n"

static void is_refused(const char *symbols, const char *sections, const char *words) {
    char *refused = said(symbols, sections);
    cr_expect(refused != NULL && strstr(refused, words) != NULL, "of\n%s%s: %s", symbols, sections,
              refused != NULL ? refused : "nothing is wrong");
    free(refused);
}

static void is_right(const char *symbols, const char *sections) {
    char *refused = said(symbols, sections);
    cr_expect_null(refused, "of\n%s%s: %s", symbols, sections, refused);
    free(refused);
}

Test(symbols, what_a_compiler_makes_is_right) {
    is_right("loop_step T 0 10\nhelp t 0 b\nexpf U         \njson_pack U         \n.LC0 r 0 \n",
             TEXT);
    cr_expect_null(said_of("cast.cu", "_ZNSt3oneE W 0 5\n", TEXT));
    is_right("", TEXT
             "  1 .bss          00001000  " PLACE "ALLOC\n"
             "  2 .rodata.str1.1 00080000  " PLACE "CONTENTS, ALLOC, LOAD, READONLY, DATA\n"
             "  3 .debug_info   00100000  " PLACE "CONTENTS, RELOC, READONLY, DEBUGGING, OCTETS\n");
}

/* Records of the host's variables: the simulator reads them, and they count. */
Test(symbols, records_of_host_variables_are_data) {
    is_right("", TEXT "  1 cudasim_host_variables 00000018  " PLACE
                      "CONTENTS, ALLOC, LOAD, RELOC, DATA\n");
    is_refused("",
               TEXT "  1 cudasim_host_variables 00001001  " PLACE
                    "CONTENTS, ALLOC, LOAD, RELOC, DATA\n",
               "bytes of static data");
    is_refused("",
               TEXT "  1 cudasim_host_variable 00000018  " PLACE
                    "CONTENTS, ALLOC, LOAD, RELOC, DATA\n",
               "a section of its own");
}

/* A file that is compiled once for each precision defines each function three times. */
Test(symbols, functions_of_the_precisions) {
    cr_expect_null(said_of("cast.cu", "cast_gpu_f32 T 0 10\ncast_gpu_bf16 U         \n", TEXT));
    is_refused("cast_gpu T 0 10\n", TEXT, "not one of the lab's");
    is_refused("cast_gpu_f64 T 0 10\n", TEXT, "not one of the lab's");
    is_refused("loop_step_f32 T 0 10\n", TEXT, "not one of the lab's");
}

Test(symbols, what_is_not_on_the_list_is_refused) {
    cr_expect_null(said_of("loop.c", "loop_step T 0 10\nmemset U         \n", TEXT));
    is_right("memcpy U         \nmemmove U         \nmemcmp U         \n", TEXT);
    is_refused("memchr U         \n", TEXT, "not available");
    is_refused("malloc U         \n", TEXT, "memory is given");
    is_refused("free U         \n", TEXT, "`free` is not available in this lab: memory is given");
    is_refused("puts U         \n", TEXT,
               "`printf` or `puts` is not available in this lab: take it out");
    is_refused("exit w         \n", TEXT, "not available");
    is_refused("__assert_fail U         \n", TEXT,
               "`assert` is not available in this lab: the kit's own is CHECK(");
    is_refused("__cxa_guard_acquire U         \n", TEXT, "it is set at the first call alone");
    is_refused("help T 0 10\n", TEXT, "make it static");
    is_refused("loop_other W 0 10\n", TEXT, "not one of the lab's");
    is_refused("choose i 0 10\n", TEXT, "before main()");
    is_refused("loop_step i 0 10\n", TEXT, "before main()");
    is_refused("shared C 8 8\n", TEXT, "not one of the lab's");
}

/* Calls that the headers of the simulator rename: the message has the name in the source. */
Test(symbols, cuda_by_the_names_of_the_source) {
    is_refused("cudasim_memcpy_async U         \n", TEXT, "`cudaMemcpyAsync` is not available");
    is_refused("cudasim_malloc U         \n", TEXT, "`cudaMalloc` is not available");
    is_refused("cudasim_ U         \n", TEXT, "`cuda_` is not available");
    is_refused("cudasim_simulate U         \n", TEXT, "`cudaSimulate` is not available");
    is_refused("cudasim_blas_gemm_ex U         \n", TEXT,
               "`cublasGemmEx` is not available in this lab: by hand");
    is_refused("cudasim_curand_generate_uniform U         \n", TEXT,
               "`curandGenerateUniform` is not available");
    is_refused("cudasim_malloc_async U         \n", TEXT,
               "`cudaMallocAsync` is not available in this lab: none is allocated");
    is_refused("cudasim_nccl_all_reduce U         \n", TEXT, "`ncclAllReduce` is not available");
    is_refused("cudasim_memcpy_2d_async U         \n", TEXT,
               "`cudaMemcpy2DAsync` is not available");
    is_refused("cudasim_to_symbol U         \n", TEXT, "`cudaMemcpyToSymbol` is not available");
    is_refused("cudasim_event_create U         \n", TEXT, "`cudaEventCreate` is not available");
    is_refused("cudasim_graph_change_edges U         \n", TEXT,
               "`cudaGraphAddDependencies` or `cudaGraphRemoveDependencies` is not available");
    is_refused("cudasim_nccl_init_rank U         \n", TEXT, "`ncclCommInitRank` is not available");
    is_refused("mycudasim_free U         \n", TEXT, "`mycudasim_free` is not available");
}

/* A file with a list of its own has no part of the lab's. */
Test(symbols, a_file_may_have_its_own_list) {
    cr_expect_null(said_of("loop_test.c", "loop_try U         \n", TEXT));
    const char *const refused[][2] = {{"loop_test.c", "json_pack U         \n"},
                                      {"loop.c", "loop_try U         \n"}};
    for (int i = 0; i < 2; i++) {
        char *text = said_of(refused[i][0], refused[i][1], TEXT);
        cr_expect(text != NULL && strstr(text, "not available") != NULL, "%s", refused[i][0]);
        free(text);
    }
}

/* Else a function would have the list of calls of whichever file it stands in. */
Test(symbols, a_function_stands_in_its_own_file) {
    is_right("cast_gpu_f32 U         \ntest_clip U         \ntest_clip t 0 10\n", TEXT);
    is_refused("test_clip T 0 10\n", TEXT, "loop.c: `test_clip` belongs in loop_test.c");
    is_refused("test_clip W 0 10\n", TEXT, "`test_clip` belongs in loop_test.c");
    is_refused("test_clip C 8 8\n", TEXT, "`test_clip` belongs in loop_test.c");
    is_refused("cast_gpu_f16 T 0 10\n", TEXT, "`cast_gpu_f16` belongs in cast.cu");
}

Test(symbols, no_line_is_passed_over) {
    static const char *const lines[] = {
        "\n:\n U         \n", "a name t 0 \n", " T 0 10\n",  "name\n", "name \n",
        "name tt 0\n",        "name t 0 x\n",  "exit\n U \n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        is_refused(lines[i], TEXT, "no compiler gives");
    }
}

Test(symbols, a_long_name_hides_no_kind) {
    char name[500];
    memset(name, 't', sizeof name);
    snprintf(name + 400, sizeof name - 400, " T 0 10\n");
    is_refused(name, TEXT, "make it static");
}

Test(symbols, sections_of_their_own_are_refused) {
    is_refused("", "  0 .init_array   00000008  " PLACE "CONTENTS, ALLOC, LOAD, RELOC, DATA\n",
               "before or after main");
    is_refused("", "  0 .dtors        00000008  " PLACE "CONTENTS, ALLOC, LOAD, RELOC, DATA\n",
               "before or after main");
    is_refused("", "  0 .fini         00000008  " PLACE "CONTENTS, ALLOC, LOAD, READONLY, CODE\n",
               "before or after main");
    is_refused("", "  0 .gnu.lto_x    00000008  " PLACE "CONTENTS, READONLY, EXCLUDE\n",
               "of its own");
    is_refused("", "  0 .init_array.1 x 00000008  " PLACE "CONTENTS, ALLOC, LOAD, RELOC, DATA\n",
               "no compiler gives");
    is_refused("", "  0 .text 00000008  " PLACE "CODE .ctors 00000008  " PLACE "ALLOC\n",
               "no compiler gives");
    is_refused("", "  0 .text\n", "no compiler gives");
    is_refused("",
               "  0 .bss          00000008  0000000000000000  0000000000000000  00000040  2**64  "
               "ALLOC\n",
               "no compiler gives");
}

/* One pointer, which is taken out again. */
Test(symbols, a_compiler_may_announce_loads) {
    static const char *const names[] = {"00099", "0"};
    for (int i = 0; i < 2; i++) {
        char *section = NULL;
        for (int pointers = 1; pointers <= 2; pointers++) {
            cr_assert(asprintf(&section,
                               "  0 .init_array.%s %08x  " PLACE
                               "CONTENTS, ALLOC, LOAD, RELOC, DATA\n",
                               names[i], 8 * pointers) > 0);
            char *cuda = said_of("cast.cu", "", section), *plain = said_of("loop.c", "", section);
            cr_expect((cuda == NULL) == (pointers == 1), "%s", cuda);
            cr_expect(plain != NULL && strstr(plain, "before or after main") != NULL);
            free(cuda);
            free(plain);
            free(section);
        }
        cr_expect_not_null(strstr(symbols_taken_out("cast.cu"), names[i]));
    }
    cr_expect_null(symbols_taken_out("loop.c"));
}

/* A linker would let all sections of that name be written. */
Test(symbols, what_is_written_is_data) {
    is_refused("", "  0 .rodata.x     00000001  " PLACE "CONTENTS, ALLOC, LOAD, DATA\n",
               "of its own");
    is_refused("", "  0 .text.x       00000001  " PLACE "CONTENTS, ALLOC, LOAD, CODE\n",
               "of its own");
    is_refused("", "  0 .note.x       00000001  " PLACE "CONTENTS, ALLOC, LOAD, DATA\n",
               "of its own");
    is_right("", "  0 .data.rel.ro  00000001  " PLACE "CONTENTS, ALLOC, LOAD, DATA\n");
}

/* All ranks would share it. */
Test(symbols, ranks_have_no_data_of_threads) {
    const char *data = "  0 .tbss.x       00000004  " PLACE "ALLOC, THREAD_LOCAL\n";
    is_right("", data);
    ranks = true;
    is_refused("", data, "ranks would share them");
    is_refused("",
               "  0 .tdata        00000004  " PLACE "CONTENTS, ALLOC, LOAD, DATA, THREAD_LOCAL\n",
               "ranks would share them");
    ranks = false;
}

Test(symbols, all_that_can_be_written_is_counted) {
    is_refused("", "  0 .bss          00001001  " PLACE "ALLOC\n", "4097 bytes of static data");
    is_refused("", "  0 .rodata.x     00001001  " PLACE "ALLOC, READONLY\n", "4097 bytes");
    is_refused("",
               "  0 .bss          00000008  0000000000000000  0000000000000000  00000040  2**13  "
               "ALLOC\n",
               "8192 bytes of static data");
    is_right("", "  0 .data         00000000  " PLACE "CONTENTS, ALLOC, LOAD, DATA\n"
                 "  1 .bss          00001000  " PLACE "ALLOC\n");
    is_refused("", "  0 .rodata.x     00102001  " PLACE "CONTENTS, ALLOC, LOAD, READONLY, DATA\n",
               "bytes of code and constants");
}
