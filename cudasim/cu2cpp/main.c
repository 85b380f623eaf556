/**
 * @file main.c
 * @brief Turns preprocessed CUDA into C++ that a host compiler takes. A program of its own.
 * @ingroup cudasim
 *
 *     g++ -E -x c++ -include cuda_runtime.h x.cu | cu2cpp - x.ii && g++ -x c++-cpp-output -c x.ii
 *
 * CUDA's language adds little to C++ that a header could not: these are rewritten here.
 *
 *     k<<<g, b>>>(args)            cudasim_launch_named(FILE, LINE, "k", F, G, H, g, b)(args)
 *     extern __shared__ float x[]; auto x = (float *)cudasim_dynamic_shared("x", FILE, LINE);
 *     (void *)k                    cudasim_kernel_address("k", k)
 *     __constant__ float c[4];     __attribute__((section("cudasim_constant"))) float c[4];
 *     __shared__ float t[32][33];  struct cudasim_t { float t[32][33]; };
 *                                  static cudasim_shared_variable cudasim_t_record = {...};
 *                                  auto &t = ((cudasim_t *)cudasim_static_shared(&...))->t;
 *
 *     __shared__ float s;          the same outside of functions; those that use s begin with
 *                                  auto &s = ((cudasim_s *)cudasim_file_shared(&...))->s;
 *     cudaEventRecord(e);          cudasim_ignored(), cudaEventRecord(e);
 *     asm("mov.u32 %0, %%laneid;" : "=r"(x));
 *                                  ({ { (x) = cudasim_as<__typeof__(x)>(cudasim_lane); } });
 *
 * The text is cut into tokens, and only tokens are replaced; the white space between them, with its
 * newlines, is copied. So no line moves, and the compiler, the debugger and every report name the
 * line that the student wrote. It works on preprocessed text because a launch may stand in a
 * macro, and because line markers then come with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite.h"
#include "tokens.h"

static bool sealed, in_system; /* from here on */
static bool marks_host;        /* likewise: see mark_host() */
static size_t marked_end;      /* of the function that was met last */

static bool begins_with(size_t i, const char *text) {
    return is_kind(i, WORD) && tokens[i].length >= strlen(text) &&
           strncmp(tokens[i].text, text, strlen(text)) == 0;
}

static void refuse_unsupported(size_t i) {
    static const char *const asm_words[] = {"asm", "__asm", "__asm__", NULL};
    if (is(i, "__managed__") && sealed) {
        error_at(i, "unsupported: managed memory. Use cudaMalloc and cudaMemcpy");
    } else if (is(i, "__managed__")) {
        replace(i, ""); /* a variable is a plain one, see cudasim_kernel.h */
    } else if (is(i, "cudasim_asm") && !sealed) {
        replace(i, "__asm__"); /* for the CPU, in cudasim_kernel.h */
    } else if (is_one_of(i, asm_words) && sealed) {
        error_at(i, "unsupported: inline PTX. The simulator runs on the CPU");
    } else if (is_one_of(i, asm_words) && !in_system) {
        rewrite_asm(i);
    }
}

/* In a program that is graded, cudasim_sealed.h stands before all else, and its last word begins
   what is not the kit's. What follows is refused wherever it stands: a line marker that says "this
   is a header of the system" can be written by anybody. */
static void refuse_unseen(size_t i) {
    static const char *const words[] = {"always_inline", "__always_inline__", "no_sanitize",
                                        "__no_sanitize__", NULL};
    if (is(i, "cudasim_sealed_from_here")) {
        sealed = true;
    } else if (sealed && begins_with(i, "__builtin_ia32_")) {
        error_at(i, "unsupported: a builtin of the CPU. A kernel is for any machine");
    } else if (sealed && is_one_of(i, words)) {
        error_at(i, "unsupported: this attribute. __forceinline__ is CUDA's word");
    }
}

static bool may_begin_host(size_t i) {
    return marks_host && !in_system && i >= marked_end && is(i, "{");
}

static bool ends_declaration(size_t i) {
    static const char *const marks[] = {";", "{", "}", NULL};
    return i == NONE || is_one_of(i, marks);
}

/* The variables lie together, so that check mode knows a store to one. Those that are const as well
   lie where nothing can be stored. */
static void rewrite_constant(size_t i) {
    size_t begin = i, end = i;
    while (!ends_declaration(before(begin))) {
        begin = before(begin);
    }
    while (!ends_declaration(end) && !is(end, "const") && !is(end, "constexpr")) {
        end = after(end);
    }
    bool is_const = !ends_declaration(end);
    for (; begin != i; begin = after(begin)) {
        is_const = is_const || is(begin, "const") || is(begin, "constexpr");
    }
    if (!is_const && !sealed) {
        record_variable(i);
    }
    replace(i, is_const ? "" : "__attribute__((section(\"cudasim_constant\")))");
}

static void rewrite(void) {
    for (size_t i = 0; i < token_count; i++) {
        note_system_header(i, &in_system);
        size_t open = launch_opening(i);
        refuse_host_call(i);
        if (!sealed) {
            note_ignored(i);
        }
        if (rewrite_side(i, sealed) || rewrite_launch_bounds(i, sealed)) {
            continue;
        }
        if (open != NONE && in_device_code(i)) {
            error_at(i, "unsupported: dynamic parallelism: a kernel launches a kernel. Let the "
                        "host do it");
            i = open;
        } else if (open != NONE) {
            rewrite_launch(i, open, sealed);
            i = open;
        } else if (is(i, "cudasim_launch_kernel")) {
            rewrite_launch_call(i);
        } else if (is(i, "__shared__")) {
            rewrite_shared(i, sealed);
        } else if (is(i, "__constant__")) {
            rewrite_constant(i);
        } else if (is(i, "__noinline__") && !is_mark_of(before(i), "(,")) {
            /* No macro: a header of the host's may say __attribute__((__noinline__)). */
            replace(i, "__attribute__((noinline))");
        } else if (is(i, "(") || is(i, "reinterpret_cast")) {
            rewrite_cast(i);
        } else if (is(i, "cudasim_marks_host")) {
            marks_host = true;
            replace(i, "");
        } else if (may_begin_host(i)) {
            marked_end = mark_host(i) ? closing(i) : marked_end;
        } else {
            refuse_unseen(i);
            refuse_unsupported(i);
        }
    }
}

static char *read_all(FILE *file, const char *name) {
    Text text = {0};
    char buffer[1 << 16];
    size_t length;
    append_text(&text, "");
    while ((length = fread(buffer, 1, sizeof buffer, file)) > 0) {
        append(&text, buffer, length);
    }
    if (ferror(file)) {
        perror(name);
        exit(1);
    }
    return text.text;
}

static bool write_output(FILE *file) {
    for (size_t i = 0; i < token_count; i++) {
        const Token *token = &tokens[i];
        if (token->instead != NULL) {
            fputs(token->instead, file);
        } else {
            fwrite(token->text, 1, token->length, file);
        }
    }
    fputs(records_of_both(), file);
    return fflush(file) == 0 && !ferror(file);
}

static FILE *open_or_exit(const char *name, const char *mode, FILE *standard) {
    FILE *file = name == NULL || strcmp(name, "-") == 0 ? standard : fopen(name, mode);
    if (file == NULL) {
        perror(name);
        exit(1);
    }
    return file;
}

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: cu2cpp INPUT|- [OUTPUT]\n");
        return 2;
    }
    const char *name = strcmp(argv[1], "-") == 0 ? "<stdin>" : argv[1];
    cut_into_tokens(name, read_all(open_or_exit(argv[1], "rb", stdin), name));
    record_host_variables();
    rewrite();
    check_calls();
    if (error_count > 0) {
        return 1;
    }
    const char *output_name = argc == 3 ? argv[2] : NULL;
    if (!write_output(open_or_exit(output_name, "wb", stdout))) {
        perror(output_name);
        return 1;
    }
    return 0;
}
