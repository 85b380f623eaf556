#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"
#include "rewrite.h"
#include "scope.h"
#include "tokens.h"

/* Inline PTX: an asm statement is cut into its instructions and operands. */

/* Where the group of operands ends: at a colon or the closing parenthesis. */
static bool read_operands(Asm *a, size_t *i, size_t end) {
    while (is_kind(*i, LITERAL)) {
        size_t open = after(*i), close = is(open, "(") ? closing(open) : NONE;
        if (close == NONE || close >= end || a->operands == OPERANDS) {
            return false;
        }
        a->operand[a->operands][0] = open;
        a->operand[a->operands++][1] = close + 1;
        *i = after(close);
        if (is(*i, ",")) {
            *i = after(*i);
        }
    }
    return *i == end || is(*i, ":") || is(*i, "::");
}

/* Outputs and inputs; what is clobbered does not matter here. */
static bool read_all_operands(Asm *a, size_t i, size_t end) {
    for (int colons = 0; i != end;) {
        colons += is(i, "::") ? 2 : is(i, ":");
        if (colons == 0 || colons > 2) {
            return colons > 2;
        }
        i = after(i);
        if (!read_operands(a, &i, end)) {
            return false;
        }
    }
    return true;
}

static void append_character(Instruction *instruction, char c) {
    char *text =
        instruction->parts == 0 ? instruction->name : instruction->part[instruction->parts - 1];
    size_t length = strlen(text);
    if (length + 1 < LONGEST && !(length == 0 && isspace((unsigned char)c))) {
        text[length] = c;
        text[length + 1] = '\0';
    }
}

/* One more character of the assembler's text. True if it ends an instruction. */
static bool read_character(Instruction *instruction, char c, size_t token, int *depth) {
    bool begun = instruction->name[0] != '\0';
    if (!begun) {
        instruction->token = token;
    }
    *depth += (c == '[' || (begun && c == '{')) - (c == ']' || (c == '}' && *depth > 0));
    if (c == ';') {
        *depth = 0;
        return begun;
    }
    if (!begun && strchr("{}", c) != NULL) {
        return false; /* of a block */
    }
    bool first = instruction->parts == 0, blank = isspace((unsigned char)c);
    bool opens = first && begun && strchr("{[%", c) != NULL; /* with no blank before it */
    bool next = instruction->parts < PARTS &&
                (opens || (*depth == 0 && (first ? begun && blank : c == ',')));
    if (next) {
        instruction->part[instruction->parts++][0] = '\0';
    }
    if (opens || !next) {
        append_character(instruction, c);
    }
    return false;
}

/* The text in a literal is [begin, end) of its token; in a raw one there are no escapes. */
static bool is_raw(const Token *token, size_t *begin, size_t *end) {
    bool raw = token->text[0] != '"';
    *begin = raw ? strcspn(token->text, "(") + 1 : 1;
    *end = token->length - 1;
    while (raw && *end > *begin && token->text[*end] != ')') {
        (*end)--;
    }
    return raw;
}

/* The text is that of the literals from i on, one after the other; \n and \t are blanks. */
static void write_instructions(Asm *a, size_t i) {
    Instruction instruction = {0};
    int depth = 0;
    size_t last = i;
    for (; is_kind(i, LITERAL); last = i, i = after(i)) {
        const Token *token = &tokens[i];
        size_t k, end;
        bool raw = is_raw(token, &k, &end);
        for (; k < end; k++) {
            bool escape = !raw && token->text[k] == '\\';
            k += escape;
            if (read_character(&instruction, escape ? ' ' : token->text[k], i, &depth)) {
                write_instruction(a, &instruction);
                instruction = (Instruction){0};
            }
        }
    }
    if (read_character(&instruction, ';', last, &depth)) {
        write_instruction(a, &instruction);
    }
}

/* Leaves the newlines of a raw literal. */
static void blank_out(size_t i) {
    Text lines = {0};
    append_text(&lines, "");
    for (size_t k = 0; k < tokens[i].length; k++) {
        append(&lines, "\n", tokens[i].text[k] == '\n');
    }
    replace(i, lines.text);
    free(lines.text);
}

void rewrite_asm(size_t i) {
    static const char *const qualifiers[] = {"volatile", "__volatile__", "__volatile", NULL};
    Asm a = {0};
    size_t open = after(i);
    while (is_one_of(open, qualifiers)) {
        open = after(open);
    }
    size_t close = is(open, "(") ? closing(open) : NONE, rest = after(open);
    while (is_kind(rest, LITERAL)) {
        rest = after(rest);
    }
    if (!in_function(i)) {
        error_at(i, "unsupported: inline PTX outside of a function");
    } else if (close == NONE || !read_all_operands(&a, rest, close)) {
        error_at(i, "unsupported: inline PTX: cannot read this statement");
    } else {
        append_text(&a.out, "({ ");
        write_instructions(&a, after(open));
        append_text(&a.out, "})");
        for (size_t k = i; k <= close; k = after(k)) {
            blank_out(k);
        }
        replace(i, a.out.text);
    }
    free(a.out.text);
}
