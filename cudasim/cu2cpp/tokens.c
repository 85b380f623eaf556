#include "tokens.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Token *tokens;
size_t token_count;
int error_count;
static const char *input_name;

/* ---- cutting --------------------------------------------------------------------------------- */

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

void cut_into_tokens(const char *name, const char *input) {
    input_name = name;
    bool line_begins = true;
    size_t capacity = 0;
    for (const char *p = input; *p != '\0'; p += tokens[token_count - 1].length) {
        if (token_count == capacity) {
            capacity = capacity == 0 ? 4096 : 2 * capacity;
            tokens = grow(tokens, capacity * sizeof *tokens);
        }
        Token token = next_token(p, line_begins);
        if (token.kind != SPACE || memchr(token.text, '\n', token.length) != NULL) {
            line_begins = token.kind == SPACE;
        }
        tokens[token_count++] = token;
    }
}

/* ---- looking --------------------------------------------------------------------------------- */

/* A line marker may stand anywhere, since a macro of a system header has markers around it. */
static bool is_gap(size_t i) {
    return tokens[i].kind == SPACE || tokens[i].kind == DIRECTIVE;
}

size_t after(size_t i) {
    while (i != NONE && ++i < token_count) {
        if (!is_gap(i)) {
            return i;
        }
    }
    return NONE;
}

size_t before(size_t i) {
    while (i != NONE && i > 0) {
        if (!is_gap(--i)) {
            return i;
        }
    }
    return NONE;
}

bool is(size_t i, const char *text) {
    return i < token_count && tokens[i].length == strlen(text) && tokens[i].kind != LITERAL &&
           strncmp(tokens[i].text, text, tokens[i].length) == 0;
}

bool are_same(size_t a, size_t b) {
    return is_kind(a, WORD) && is_kind(b, WORD) && tokens[a].length == tokens[b].length &&
           memcmp(tokens[a].text, tokens[b].text, tokens[a].length) == 0;
}

bool is_kind(size_t i, TokenKind kind) {
    return i < token_count && tokens[i].kind == kind;
}

bool is_one_of(size_t i, const char *const *words) {
    while (*words != NULL && !is(i, *words)) {
        words++;
    }
    return *words != NULL;
}

bool is_mark_of(size_t i, const char *marks) {
    return is_kind(i, MARK) && tokens[i].length == 1 && strchr(marks, tokens[i].text[0]) != NULL;
}

size_t closing(size_t i) {
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

size_t opening(size_t i) {
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

/* ---- writing --------------------------------------------------------------------------------- */

void append_tokens(Text *text, size_t from, size_t to) {
    for (size_t i = from; i != NONE && i < to; i = after(i)) {
        bool gap = i > from && tokens[i - 1].kind == SPACE;
        append(text, " ", gap ? 1 : 0);
        append(text, tokens[i].text, tokens[i].length);
    }
}

void append_quoted(Text *text, size_t from, size_t to) {
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

void replace(size_t i, const char *text) {
    free(tokens[i].instead);
    Text copy = {0};
    append_text(&copy, text);
    tokens[i].instead = copy.text;
}

static void append_to_token(size_t i, const char *text) {
    Text out = {0};
    append_text(&out, tokens[i].instead != NULL ? tokens[i].instead : "");
    append(&out, tokens[i].text, tokens[i].instead == NULL ? tokens[i].length : 0);
    append_text(&out, text);
    replace(i, out.text);
    free(out.text);
}

void insert_before(size_t i, const char *text) {
    const Token *token = &tokens[i];
    Text both = {0};
    append_text(&both, text);
    if (token->instead != NULL) {
        append_text(&both, token->instead);
    } else {
        append(&both, token->text, token->length);
    }
    replace(i, both.text);
    free(both.text);
}

void begin_body(size_t open, const char *text) {
    size_t close = closing(open);
    if (close == NONE) {
        return; /* a brace is missing, which the compiler says better */
    }
    append_to_token(open, " ");
    append_to_token(open, text);
    append_to_token(open, "{");
    append_to_token(close, "}");
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Where a token stands, by the line markers before it. */
typedef struct TokenPlace {
    char file[512];
    int line;
    bool system; /* in a header of the system */
} TokenPlace;

/* Whether a token is a line marker; then `place` is where the text after it stands. */
static bool read_marker(const Token *token, TokenPlace *place) {
    int line, flags = 0;
    char file[512];
    if (token->kind != DIRECTIVE ||
        (sscanf(token->text, "# %d \"%511[^\"\n]\"%n", &line, file, &flags) != 2 &&
         sscanf(token->text, "#line %d \"%511[^\"\n]\"%n", &line, file, &flags) != 2)) {
        return false;
    }
    /* The newline after the marker will count it up. */
    place->line = line - 1;
    place->system = memchr(token->text + flags, '3', token->length - (size_t)flags) != NULL;
    snprintf(place->file, sizeof place->file, "%s", file);
    return true;
}

static TokenPlace place_of(size_t i) {
    TokenPlace place = {.line = 1};
    snprintf(place.file, sizeof place.file, "%s", input_name);
    for (size_t k = 0; k < i; k++) {
        const Token *token = &tokens[k];
        if (!read_marker(token, &place)) {
            for (size_t c = 0; c < token->length; c++) {
                place.line += token->text[c] == '\n';
            }
        }
    }
    return place;
}

void note_system_header(size_t i, bool *system) {
    TokenPlace place;
    if (tokens[i].kind == DIRECTIVE && read_marker(&tokens[i], &place)) {
        *system = place.system;
    }
}

void note_own_file(size_t i, bool *own) {
    TokenPlace place;
    if (tokens[i].kind == DIRECTIVE && read_marker(&tokens[i], &place)) {
        *own = !place.system && strstr(place.file, "cudasim/include/") == NULL;
    }
}

void error_at(size_t i, const char *format, ...) {
    TokenPlace place = place_of(i);
    fprintf(stderr, "%s:%d: error: cu2cpp: ", place.file, place.line);
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fprintf(stderr, "\n");
    error_count++;
}
