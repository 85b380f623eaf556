/**
 * @file cu2cpp.c
 * @brief Turns preprocessed CUDA into C++ that a host compiler takes. A program of its own.
 * @ingroup cudasim
 *
 *     g++ -E -x c++ -include cuda_runtime.h x.cu | cu2cpp - x.ii && g++ -x c++-cpp-output -c x.ii
 *
 * CUDA's language adds little to C++ that a header could not: three things are rewritten here.
 *
 *     k<<<g, b>>>(args)            cudasim_launch(FILE, LINE, "k", k, g, b)(args)
 *     extern __shared__ float x[]; auto x = (float *)cudasim_dynamic_shared("x", FILE, LINE);
 *     __shared__ float t[32][33];  struct cudasim_t { float t[32][33]; };
 *                                  static cudasim_shared_variable cudasim_t_record = {...};
 *                                  auto &t = ((cudasim_t *)cudasim_static_shared(&...))->t;
 *
 * The text is cut into tokens, and only tokens are replaced; the white space between them, with its
 * newlines, is copied. So no line moves, and the compiler, the debugger and every report name the
 * line that the student wrote. It works on preprocessed text because a launch may stand in a
 * macro, and because line markers then come with it.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum TokenKind {
    SPACE,     /* blanks, newlines and comments */
    WORD,      /* identifiers and keywords */
    NUMBER,    /* 0x1p-3f and 1'000'000 */
    LITERAL,   /* "text", 'c' and R"(raw)", without a prefix such as L */
    MARK,      /* <<< :: -> or one character */
    DIRECTIVE, /* a line that begins with #: line markers, #pragma */
} TokenKind;

typedef struct Token {
    TokenKind kind;
    const char *text; /* in the input; not terminated */
    size_t length;
    char *instead; /* what is written in its place, or NULL */
} Token;

static const char *input_name;
static char *input; /* ends with a NUL */
static Token *tokens;
static size_t token_count;
static int error_count;

/* ---- text that grows ------------------------------------------------------------------------ */

typedef struct Text {
    char *text;
    size_t length, capacity;
} Text;

static void append(Text *to, const char *text, size_t length) {
    if (to->length + length + 1 > to->capacity) {
        to->capacity = 2 * (to->length + length + 1);
        to->text = realloc(to->text, to->capacity);
        if (to->text == NULL) {
            fprintf(stderr, "cu2cpp: out of memory\n");
            exit(1);
        }
    }
    memcpy(to->text + to->length, text, length);
    to->length += length;
    to->text[to->length] = '\0';
}

static void append_text(Text *to, const char *text) {
    append(to, text, strlen(text));
}

/* ---- tokens --------------------------------------------------------------------------------- */

static bool in_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static const char *end_of_line(const char *p) {
    while (*p != '\0' && *p != '\n') {
        p += p[0] == '\\' && p[1] != '\0' ? 2 : 1;
    }
    return p;
}

static const char *end_of_space(const char *p) {
    for (;;) {
        if (isspace((unsigned char)*p)) {
            /* A newline ends the token, so that a # after it is seen to begin a line. */
            if (*p++ == '\n') {
                return p;
            }
        } else if (p[0] == '/' && p[1] == '/') {
            p = end_of_line(p);
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            p = end != NULL ? end + 2 : p + strlen(p);
        } else {
            return p;
        }
    }
}

/* p[0] is a digit, or a point before one. */
static const char *end_of_number(const char *p) {
    for (;; p++) {
        bool exponent_sign = (*p == '+' || *p == '-') && strchr("eEpP", p[-1]) != NULL;
        bool separator = *p == '\'' && in_word(p[1]);
        if (!in_word(*p) && *p != '.' && !exponent_sign && !separator) {
            return p;
        }
    }
}

/* p[0] is the quote. A line's end also ends it: preprocessed text may hold a lone apostrophe. */
static const char *end_of_literal(const char *p) {
    char quote = *p++;
    while (*p != quote && *p != '\n' && *p != '\0') {
        p += p[0] == '\\' && p[1] != '\0' ? 2 : 1;
    }
    return *p == quote ? p + 1 : p;
}

/* p is at the quote of R"x(...)x". */
static const char *end_of_raw_literal(const char *p) {
    const char *open = strchr(p, '(');
    if (open == NULL) {
        return end_of_literal(p);
    }
    Text close = {0};
    append_text(&close, ")");
    append(&close, p + 1, (size_t)(open - p - 1));
    append_text(&close, "\"");
    const char *end = strstr(open, close.text);
    end = end != NULL ? end + close.length : p + strlen(p);
    free(close.text);
    return end;
}

static bool is_raw_prefix(const char *word, size_t length) {
    static const char *const prefixes[] = {"R", "LR", "uR", "UR", "u8R"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (length == strlen(prefixes[i]) && strncmp(word, prefixes[i], length) == 0) {
            return true;
        }
    }
    return false;
}

static const char *end_of_mark(const char *p) {
    static const char *const marks[] = {"<<<", "::", "->"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (strncmp(p, marks[i], strlen(marks[i])) == 0) {
            return p + strlen(marks[i]);
        }
    }
    return p + 1;
}

static Token next_token(const char *p, bool line_begins) {
    TokenKind kind;
    const char *end = end_of_space(p);
    if (end > p) {
        kind = SPACE;
    } else if (*p == '#' && line_begins) {
        kind = DIRECTIVE, end = end_of_line(p);
    } else if (isdigit((unsigned char)p[0]) || (p[0] == '.' && isdigit((unsigned char)p[1]))) {
        kind = NUMBER, end = end_of_number(p);
    } else if (in_word(*p)) {
        for (kind = WORD; in_word(*end); end++) {
        }
        if (*end == '"' && is_raw_prefix(p, (size_t)(end - p))) {
            kind = LITERAL, end = end_of_raw_literal(end);
        }
    } else if (*p == '"' || *p == '\'') {
        kind = LITERAL, end = end_of_literal(p);
    } else {
        kind = MARK, end = end_of_mark(p);
    }
    return (Token){kind, p, (size_t)(end - p), NULL};
}

static void cut_into_tokens(void) {
    bool line_begins = true;
    size_t capacity = 0;
    for (const char *p = input; *p != '\0'; p += tokens[token_count - 1].length) {
        if (token_count == capacity) {
            capacity = capacity == 0 ? 4096 : 2 * capacity;
            tokens = realloc(tokens, capacity * sizeof *tokens);
            if (tokens == NULL) {
                fprintf(stderr, "cu2cpp: out of memory\n");
                exit(1);
            }
        }
        Token token = next_token(p, line_begins);
        if (token.kind != SPACE || memchr(token.text, '\n', token.length) != NULL) {
            line_begins = token.kind == SPACE;
        }
        tokens[token_count++] = token;
    }
}

/* ---- looking at tokens. NONE is before the first and after the last ------------------------- */

#define NONE ((size_t)-1)

static size_t after(size_t i) {
    for (i++; i < token_count; i++) {
        if (tokens[i].kind != SPACE) {
            return i;
        }
    }
    return NONE;
}

static size_t before(size_t i) {
    while (i > 0) {
        if (tokens[--i].kind != SPACE) {
            return i;
        }
    }
    return NONE;
}

static bool is(size_t i, const char *text) {
    return i != NONE && tokens[i].length == strlen(text) && tokens[i].kind != LITERAL &&
           strncmp(tokens[i].text, text, tokens[i].length) == 0;
}

static bool is_kind(size_t i, TokenKind kind) {
    return i != NONE && tokens[i].kind == kind;
}

/* Whether token i is one of the words, which end with NULL. */
static bool is_one_of(size_t i, const char *const *words) {
    while (*words != NULL && !is(i, *words)) {
        words++;
    }
    return *words != NULL;
}

/* Whether token i is one of these single characters. */
static bool is_mark_of(size_t i, const char *marks) {
    return is_kind(i, MARK) && tokens[i].length == 1 && strchr(marks, tokens[i].text[0]) != NULL;
}

/* The closing bracket of the opening one at i, or NONE. Angles count if the group begins with one,
   outside of other brackets. */
static size_t closing(size_t i) {
    bool angles = is(i, "<");
    int round = 0, angle = 0;
    for (; i != NONE; i = after(i)) {
        round += is_mark_of(i, "([{") - is_mark_of(i, ")]}");
        if (angles && round == 0) {
            angle += is(i, "<") - is(i, ">");
        }
        if (round == 0 && angle == 0) {
            return i;
        }
    }
    return NONE;
}

/* The opening bracket of the closing one at i, or NONE. */
static size_t opening(size_t i) {
    bool angles = is(i, ">");
    int round = 0, angle = 0;
    for (; i != NONE; i = before(i)) {
        round += is_mark_of(i, ")]}") - is_mark_of(i, "([{");
        if (angles && round == 0) {
            angle += is(i, ">") - is(i, "<");
        }
        if (round == 0 && angle == 0) {
            return i;
        }
    }
    return NONE;
}

/* Appends the tokens [from, to), each gap between them as one blank. */
static void append_tokens(Text *text, size_t from, size_t to) {
    for (size_t i = from; i != NONE && i < to; i = after(i)) {
        bool gap = i > from && tokens[i - 1].kind == SPACE;
        append(text, " ", gap ? 1 : 0);
        append(text, tokens[i].text, tokens[i].length);
    }
}

/* ---- errors --------------------------------------------------------------------------------- */

/* Where a token stands, by the line markers before it. */
typedef struct Place {
    char file[512];
    int line;
    bool system; /* in a header of the system */
} Place;

static Place place_of(size_t i) {
    Place place = {.line = 1};
    snprintf(place.file, sizeof place.file, "%s", input_name);
    for (size_t k = 0; k < i; k++) {
        const Token *token = &tokens[k];
        int line, flags = 0;
        char file[512];
        if (token->kind == DIRECTIVE &&
            (sscanf(token->text, "# %d \"%511[^\"\n]\"%n", &line, file, &flags) == 2 ||
             sscanf(token->text, "#line %d \"%511[^\"\n]\"%n", &line, file, &flags) == 2)) {
            /* The newline after the marker will count it up. */
            place.line = line - 1;
            place.system = memchr(token->text + flags, '3', token->length - (size_t)flags) != NULL;
            snprintf(place.file, sizeof place.file, "%s", file);
        } else {
            for (size_t c = 0; c < token->length; c++) {
                place.line += token->text[c] == '\n';
            }
        }
    }
    return place;
}

__attribute__((format(printf, 2, 3))) static void error_at(size_t i, const char *format, ...) {
    Place place = place_of(i);
    fprintf(stderr, "%s:%d: error: cu2cpp: ", place.file, place.line);
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fprintf(stderr, "\n");
    error_count++;
}

/* ---- launches ------------------------------------------------------------------------------- */

/* The first token of the kernel's name that ends before the <<< at i: a postfix expression as
   ns::k<T>, s->k, table[2] or (*k). NONE if there is none. */
static size_t callee_begin(size_t i) {
    size_t begin = NONE;
    for (size_t last = before(i); last != NONE; last = before(begin)) {
        if (is_mark_of(last, ">])")) {
            last = opening(last);
            if (last == NONE) {
                return NONE;
            }
            begin = last;
            bool parenthesised = is(last, "(") && !is_kind(before(last), WORD);
            if (!parenthesised) {
                continue;
            }
        } else if (is_kind(last, WORD)) {
            begin = last;
        } else {
            return begin;
        }
        if (is(before(begin), "::") || is(before(begin), ".") || is(before(begin), "->")) {
            begin = before(begin);
        } else {
            return begin;
        }
    }
    return begin;
}

/* The first > of the >>> that ends the <<< at i, or NONE. */
static size_t launch_end(size_t i) {
    for (i = after(i); i != NONE && !is(i, ";") && !is_mark_of(i, ")]}"); i = after(i)) {
        if (is_mark_of(i, "([{")) {
            i = closing(i);
            if (i == NONE) {
                return NONE;
            }
        }
        /* Of >>>> the first ends template arguments. */
        if (is(i, ">") && is(i + 1, ">") && is(i + 2, ">") && !is(i + 3, ">")) {
            return i;
        }
    }
    return NONE;
}

static void replace(size_t i, const char *text) {
    free(tokens[i].instead);
    Text copy = {0};
    append_text(&copy, text);
    tokens[i].instead = copy.text;
}

/* The name as a string literal. */
static void append_quoted(Text *text, size_t from, size_t to) {
    Text name = {0};
    append_tokens(&name, from, to);
    append_text(text, "\"");
    for (const char *p = name.text; *p != '\0'; p++) {
        append(text, "\\", *p == '"' || *p == '\\' ? 1 : 0);
        append(text, p, 1);
    }
    append_text(text, "\"");
    free(name.text);
}

/* k<T><<<g, b>>>(args) becomes cudasim_launch(FILE, LINE, "k<T>", k<T>, g, b)(args). */
static void rewrite_launch(size_t i) {
    size_t begin = callee_begin(i), end = launch_end(i);
    if (begin == NONE) {
        error_at(i, "there is no kernel name before <<<");
        return;
    }
    if (end == NONE) {
        error_at(i, "<<< without >>>");
        return;
    }
    size_t commas = 0;
    for (size_t k = i; k < end; k++) {
        commas += is(k, ",");
    }
    if (commas == 0) {
        error_at(i, "a launch needs the grid and the block: <<<grid, block>>>");
        return;
    }
    if (!is(after(end + 2), "(")) {
        error_at(end, "the kernel's arguments must follow in parentheses after >>>");
        return;
    }
    Text call = {0};
    append_text(&call, "cudasim_launch(__builtin_FILE(), __builtin_LINE(), ");
    append_quoted(&call, begin, i);
    append_text(&call, ", ");
    append(&call, tokens[begin].text, tokens[begin].length);
    replace(begin, call.text);
    free(call.text);
    replace(i, ", ");
    replace(end, ")");
    replace(end + 1, "");
    replace(end + 2, "");
}

/* ---- shared variables ----------------------------------------------------------------------- */

/* Words with a group in parentheses that is no declarator. */
static const char *const alignment_words[] = {"alignas", "__align__", "__attribute__", NULL};
static const char *const type_of_words[] = {"decltype", "typeof", "__typeof__", NULL};
static const char *const storage_words[] = {"extern", "static", "__shared__", NULL};
static const char *const tag_words[] = {"struct", "class", "union", "enum", NULL};
static const char *const qualifiers[] = {"const", "volatile", "__restrict__", NULL};

/* A declaration of shared variables, as text and as tokens. */
typedef struct Shared {
    size_t begin, end; /* its tokens; end is the ; */
    bool dynamic;      /* extern */
    Text alignment;    /* "alignas(16)" and the like */
    Text type;         /* "volatile float" */
    size_t declarators;
} Shared;

/* The first token of the statement that has token i. */
static size_t statement_begin(size_t i) {
    for (size_t previous = before(i); previous != NONE; previous = before(i)) {
        if (is_mark_of(previous, ";{}:") || is_kind(previous, DIRECTIVE)) {
            break;
        }
        if (is(previous, ")")) {
            previous = opening(previous);
            if (previous == NONE || !is_one_of(before(previous), alignment_words)) {
                break;
            }
        }
        i = previous;
    }
    return i;
}

static bool opens_namespace(size_t brace) {
    size_t i = before(brace);
    if (is_kind(i, LITERAL)) {
        return is(before(i), "extern");
    }
    while (is_kind(i, WORD) || is(i, "::")) {
        if (is(i, "namespace")) {
            return true;
        }
        i = before(i);
    }
    return false;
}

/* Whether token i is inside of any braces but those of namespaces. */
static bool in_function(size_t i) {
    int closed = 0;
    for (i = before(i); i != NONE; i = before(i)) {
        closed += is(i, "}");
        if (is(i, "{") && closed-- == 0) {
            closed = 0;
            if (!opens_namespace(i)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether the word at i is the name that is declared: what follows a type does not. */
static bool ends_type(size_t i) {
    size_t next = after(i);
    return is_mark_of(next, "[,;=)(") || (is(next, "{") && !is_one_of(before(i), tag_words));
}

/* Reads alignment and type; declarators begins after them. False if this is no declaration. */
static bool read_type(Shared *shared) {
    size_t i = shared->begin;
    while (i != NONE && i < shared->end && !is_mark_of(i, "*&(")) {
        size_t last = i;
        Text *to = &shared->type;
        if (is_one_of(i, storage_words)) {
            shared->dynamic = shared->dynamic || is(i, "extern");
            to = NULL;
        } else if (is_one_of(i, alignment_words)) {
            last = closing(after(i));
            to = &shared->alignment;
        } else if (is_one_of(i, type_of_words)) {
            last = closing(after(i));
        } else if (is_mark_of(i, "<{[")) {
            last = closing(i);
        } else if (is_kind(i, WORD) && ends_type(i)) {
            break;
        }
        if (last == NONE) {
            return false;
        }
        if (to != NULL) {
            append_tokens(to, i, last + 1);
            append_text(to, " ");
        }
        i = after(last);
    }
    shared->declarators = i;
    return i != NONE && i < shared->end && shared->type.length > 0;
}

/* The comma or the ; that ends the declarator at i. */
static size_t declarator_end(const Shared *shared, size_t i) {
    while (i != NONE && i < shared->end && !is(i, ",")) {
        i = is_mark_of(i, "([{") ? closing(i) : i;
        i = i != NONE ? after(i) : NONE;
    }
    return i != NONE && i < shared->end ? i : shared->end;
}

static size_t declared_name(size_t i, size_t end) {
    while (i != NONE && i < end && (!is_kind(i, WORD) || is_one_of(i, qualifiers))) {
        i = after(i);
    }
    return i != NONE && i < end ? i : NONE;
}

/* T x[][8] becomes a pointer to T[8]. */
static bool declare_dynamic(Text *out, const Shared *shared, size_t begin, size_t end) {
    size_t name = declared_name(begin, end);
    if (name == NONE || !is(after(name), "[")) {
        error_at(shared->begin, "what is extern __shared__ must be an array: float x[]");
        return false;
    }
    size_t dimensions = after(closing(after(name)));
    append_text(out, "auto ");
    append(out, tokens[name].text, tokens[name].length);
    append_text(out, " = (");
    append_text(out, shared->type.text);
    append_tokens(out, begin, name);
    append_text(out, dimensions < end ? "(*)" : "*");
    append_tokens(out, dimensions, end);
    append_text(out, ")cudasim_dynamic_shared(");
    append_quoted(out, name, name + 1);
    append_text(out, ", __builtin_FILE(), __builtin_LINE()); ");
    return true;
}

/* Writes a template in which @ stands for the declared name. */
static void append_with_name(Text *out, const char *text, size_t name) {
    for (; *text != '\0'; text++) {
        if (*text == '@') {
            append(out, tokens[name].text, tokens[name].length);
        } else {
            append(out, text, 1);
        }
    }
}

/* The declaration itself goes into a struct, so that any type, declarator and alignment will do,
   and a size that is no constant is refused. */
static bool declare_static(Text *out, const Shared *shared, size_t begin, size_t end) {
    size_t name = declared_name(begin, end);
    if (name == NONE) {
        error_at(shared->begin, "this __shared__ declaration has no name");
        return false;
    }
    for (size_t i = name; i < end; i++) {
        if (is(i, "=") || (i == after(name) && is_mark_of(i, "({"))) {
            error_at(i, "a __shared__ variable cannot be initialised: let a thread write it");
            return false;
        }
    }
    append_with_name(out, "struct cudasim_@ { ", name);
    append(out, shared->alignment.text, shared->alignment.length);
    append_text(out, shared->type.text);
    append_tokens(out, begin, end);
    append_with_name(out,
                     "; }; static cudasim_shared_variable cudasim_@_record = {\"@\", "
                     "__builtin_FILE(), __builtin_LINE(), sizeof(cudasim_@::@), "
                     "alignof(cudasim_@), 0}; auto &@ = ((cudasim_@ *)"
                     "cudasim_static_shared(&cudasim_@_record))->@; ",
                     name);
    return true;
}

/* Everything that is declared, in the place of the first token. */
static void rewrite_declarators(const Shared *shared) {
    Text out = {0};
    for (size_t i = shared->declarators; i < shared->end;) {
        size_t end = declarator_end(shared, i);
        if (!(shared->dynamic ? declare_dynamic : declare_static)(&out, shared, i, end)) {
            free(out.text);
            return;
        }
        i = end < shared->end ? after(end) : end;
    }
    for (size_t i = shared->begin; i <= shared->end; i++) {
        if (tokens[i].kind != SPACE) {
            replace(i, "");
        }
    }
    replace(shared->begin, out.text);
    free(out.text);
}

static size_t semicolon_after(size_t i) {
    while (i != NONE && !is(i, ";")) {
        i = is_mark_of(i, "([{") ? closing(i) : i;
        i = i != NONE ? after(i) : NONE;
    }
    return i;
}

static void rewrite_shared(size_t i) {
    Shared shared = {.begin = statement_begin(i), .end = semicolon_after(i)};
    if (!in_function(i)) {
        error_at(i, "a __shared__ variable outside of a function: declare it in the kernel");
    } else if (shared.end == NONE || !read_type(&shared)) {
        error_at(i, "cannot read this __shared__ declaration");
    } else {
        rewrite_declarators(&shared);
    }
    free(shared.alignment.text);
    free(shared.type.text);
}

/* ---- what there is no stand-in for ---------------------------------------------------------- */

static void refuse_unsupported(size_t i) {
    static const char *const asm_words[] = {"asm", "__asm", "__asm__", NULL};
    if (is(i, "__managed__")) {
        error_at(i, "unsupported: managed memory. Use cudaMalloc and cudaMemcpy");
    } else if (is_one_of(i, asm_words) && is_mark_of(before(i), ";{})") && !place_of(i).system) {
        error_at(i, "unsupported: inline PTX. The simulator runs on the CPU");
    }
}

/* ---- the program ---------------------------------------------------------------------------- */

static void rewrite(void) {
    for (size_t i = 0; i < token_count; i++) {
        if (is(i, "<<<") && !is(before(i), "operator")) {
            rewrite_launch(i);
        } else if (is(i, "__shared__")) {
            /* One that an error has already been said of is not rewritten again. */
            rewrite_shared(i);
        } else {
            refuse_unsupported(i);
        }
    }
}

static void read_input(FILE *file) {
    Text text = {0};
    char buffer[1 << 16];
    size_t length;
    append_text(&text, "");
    while ((length = fread(buffer, 1, sizeof buffer, file)) > 0) {
        append(&text, buffer, length);
    }
    if (ferror(file)) {
        perror(input_name);
        exit(1);
    }
    input = text.text;
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
    input_name = strcmp(argv[1], "-") == 0 ? "<stdin>" : argv[1];
    read_input(open_or_exit(argv[1], "rb", stdin));
    cut_into_tokens();
    rewrite();
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
