#include "ptx.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokens.h"

/* A few instructions, by name, become C++; all others are refused. */

bool refuse(const Instruction *instruction, const char *what) {
    error_at(instruction->token, "unsupported: inline PTX: %s is not simulated", what);
    return true;
}

bool append_operand(Text *out, const Asm *a, const char *text) {
    char *end;
    long number = strtol(text + (text[0] == '%'), &end, 0);
    if (!isdigit((unsigned char)text[text[0] == '%']) || *end != '\0') {
        return false;
    }
    if (text[0] != '%') {
        append_text(out, text);
        return true;
    }
    if (number >= a->operands) {
        return false;
    }
    append_tokens(out, a->operand[number][0], a->operand[number][1]);
    return true;
}

bool append_address(Text *out, const Asm *a, const char *text, const char *type) {
    char base[LONGEST], offset[LONGEST] = "0";
    if (sscanf(text, "[ %199[%0-9] + %199[0-9] ]", base, offset) < 1) {
        return false;
    }
    append_text(out, "((");
    append_text(out, type);
    append_text(out, ")");
    bool good = append_operand(out, a, base);
    append_text(out, " + ");
    append_text(out, offset);
    append_text(out, ")");
    return good;
}

bool append_result(Asm *a, const char *text, const char *value) {
    Text x = {0};
    bool good = text[0] == '%' && append_operand(&x, a, text);
    if (good) {
        append_text(&a->out, x.text);
        append_text(&a->out, " = cudasim_as<__typeof__");
        append_text(&a->out, x.text);
        append_text(&a->out, ">(");
        append_text(&a->out, value);
        append_text(&a->out, "); ");
    }
    free(x.text);
    return good;
}

/* ---- special registers ----------------------------------------------------------------------- */

static const char *special_register(const char *name) {
    static const char *const registers[][2] = {
        {"laneid", "cudasim_lane"},
        {"warpid", "cudasim_warp_id()"},
        {"smid", "cudasim_multiprocessor()"},
        {"clock", "(unsigned)cudasim_clock()"},
        {"clock64", "cudasim_clock()"},
        {"globaltimer", "cudasim_clock()"},
        {"lanemask_eq", "(1u << cudasim_lane)"},
        {"lanemask_lt", "((1u << cudasim_lane) - 1)"},
        {"lanemask_le", "((2u << cudasim_lane) - 1)"},
        {"lanemask_gt", "~((2u << cudasim_lane) - 1)"},
        {"lanemask_ge", "~((1u << cudasim_lane) - 1)"},
    };
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        if (strcmp(name, registers[i][0]) == 0) {
            return registers[i][1];
        }
    }
    return NULL;
}

/* %tid.x */
static bool index_register(const char *name, char text[LONGEST]) {
    static const char *const indices[][2] = {
        {"tid", "threadIdx"}, {"ntid", "blockDim"}, {"ctaid", "blockIdx"}, {"nctaid", "gridDim"}};
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        size_t n = strlen(indices[i][0]);
        bool same = strncmp(name, indices[i][0], n) == 0 && name[n] == '.';
        if (same && strlen(name + n) == 2 && strchr("xyz", name[n + 1]) != NULL) {
            snprintf(text, LONGEST, "%s%s", indices[i][1], name + n);
            return true;
        }
    }
    return false;
}

static bool write_move(Asm *a, const Instruction *instruction) {
    static const char *const names[] = {"mov.u32", "mov.s32", "mov.b32", "mov.u64", "mov.b64"};
    bool known = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        known = known || strcmp(instruction->name, names[i]) == 0;
    }
    const char *from = instruction->part[1];
    const char *name = from + strspn(from, "%");
    if (!known || instruction->parts != 2 || name == from || isdigit((unsigned char)*name)) {
        return false;
    }
    char index[LONGEST];
    const char *value = index_register(name, index) ? index : special_register(name);
    if (value == NULL) {
        return refuse(instruction, name - 1);
    }
    return append_result(a, instruction->part[0], value);
}

/* ---- loads ----------------------------------------------------------------------------------- */

bool next_piece(const char **name, char piece[LONGEST]) {
    size_t n = strcspn(*name, ".");
    snprintf(piece, LONGEST, "%.*s", (int)n, *name);
    *name += n + ((*name)[n] == '.');
    return n > 0;
}

static const char *type_of(const char *piece, int elements) {
    static const char *const types[][4] = {
        {"f32", "float", "float2", "float4"},
        {"u32", "unsigned", "uint2", "uint4"},
        {"b32", "unsigned", "uint2", "uint4"},
        {"s32", "int", "int2", "int4"},
        {"f64", "double", "double2", NULL},
        {"u64", "unsigned long long", "ulonglong2", NULL},
        {"b64", "unsigned long long", "ulonglong2", NULL},
        {"s64", "long long", "longlong2", NULL},
        {"u16", "unsigned short", "ushort2", "ushort4"},
        {"b16", "unsigned short", "ushort2", "ushort4"},
        {"s16", "short", "short2", "short4"},
        {"u8", "unsigned char", "uchar2", "uchar4"},
        {"s8", "signed char", "char2", "char4"},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(piece, types[i][0]) == 0) {
            return types[i][elements == 4 ? 3 : elements];
        }
    }
    return NULL;
}

/* A part of the name that concerns caches alone. */
static bool is_hint(const char *piece) {
    static const char *const hints[] = {"nc", "ca", "cg", "cs", "lu"};
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (strcmp(piece, hints[i]) == 0) {
            return true;
        }
    }
    return strncmp(piece, "L1::", 4) == 0 || strncmp(piece, "L2::", 4) == 0;
}

/* The type that ld.global.nc.v4.f32 loads, and its elements; NULL if it is another instruction. */
static const char *loaded_type(const char *name, int *elements) {
    char piece[LONGEST];
    const char *type = NULL;
    bool is_load = strncmp(name, "ld.global.", 10) == 0;
    *elements = 1;
    for (name += is_load ? 10 : 0; is_load && next_piece(&name, piece);) {
        if (strcmp(piece, "v2") == 0 || strcmp(piece, "v4") == 0) {
            *elements = piece[1] - '0';
        } else if (!is_hint(piece)) {
            type = *name == '\0' ? type_of(piece, *elements) : NULL;
            break;
        }
    }
    return type;
}

bool element_text(const char *text, int i, int elements, char element[LONGEST]) {
    if (elements == 1) {
        snprintf(element, LONGEST, "%s", text);
        return true;
    }
    for (text += text[0] == '{'; i > 0 && text != NULL; i--) {
        text = strchr(text, ',');
        text += text != NULL;
    }
    return text != NULL && sscanf(text, " %199[%0-9]", element) == 1;
}

static bool write_load(Asm *a, const Instruction *instruction) {
    static const char *const values[] = {"cudasim_v.x", "cudasim_v.y", "cudasim_v.z",
                                         "cudasim_v.w"};
    int elements;
    const char *type = loaded_type(instruction->name, &elements);
    if (type == NULL || instruction->parts != 2) {
        return false;
    }
    append_text(&a->out, "const ");
    append_text(&a->out, type);
    append_text(&a->out, " cudasim_v = cudasim_ptx_load<");
    append_text(&a->out, type);
    append_text(&a->out, ">(");
    bool good = append_address(&a->out, a, instruction->part[1], "const char *");
    append_text(&a->out, ", " HERE);
    for (int i = 0; i < elements && good; i++) {
        char element[LONGEST];
        good = element_text(instruction->part[0], i, elements, element) &&
               append_result(a, element, elements == 1 ? "cudasim_v" : values[i]);
    }
    return good;
}

/* cvta.to.shared.u64 %0, %1; */
static bool write_address(Asm *a, const Instruction *instruction) {
    if (strcmp(instruction->name, "cvta.to.shared.u64") != 0 || instruction->parts != 2) {
        return false;
    }
    append_text(&a->out, "const size_t cudasim_v = cudasim_shared_offset((const void *)");
    bool good = append_operand(&a->out, a, instruction->part[1]);
    append_text(&a->out, ", " HERE);
    return good && append_result(a, instruction->part[0], "cudasim_v");
}

/* ---- asynchronous copies --------------------------------------------------------------------- */

static bool write_copy(Asm *a, const Instruction *instruction) {
    static const char *const names[] = {"cp.async.ca.shared.global", "cp.async.cg.shared.global",
                                        "cp.async.ca.shared::cta.global",
                                        "cp.async.cg.shared::cta.global"};
    const char *rest = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && rest == NULL; i++) {
        size_t n = strlen(names[i]);
        rest = strncmp(instruction->name, names[i], n) == 0 ? instruction->name + n : NULL;
    }
    int parts = instruction->parts;
    if (rest == NULL || (*rest != '\0' && strncmp(rest, ".L2::", 5) != 0) ||
        (parts != 3 && parts != 4)) {
        return false;
    }
    append_text(&a->out,
                instruction->name[10] == 'g' ? "cudasim_ptx_copy<16, " : "cudasim_ptx_copy<4, ");
    bool good = append_operand(&a->out, a, instruction->part[2]);
    append_text(&a->out, ">(");
    good = good && append_address(&a->out, a, instruction->part[0], "unsigned long long");
    append_text(&a->out, ", ");
    good = good && append_address(&a->out, a, instruction->part[1], "const char *");
    append_text(&a->out, ", ");
    good = good && append_operand(&a->out, a, instruction->part[parts - 1]);
    append_text(&a->out, ", " HERE);
    return good;
}

static bool write_wait(Asm *a, const Instruction *instruction) {
    bool all = strcmp(instruction->name, "cp.async.wait_all") == 0;
    if (strcmp(instruction->name, "cp.async.commit_group") == 0 || all) {
        append_text(&a->out, "cudasim_copy_commit(" HERE);
        append_text(&a->out, all ? "cudasim_copy_wait(0, " HERE : "");
        return instruction->parts == 0;
    }
    if (strcmp(instruction->name, "cp.async.wait_group") != 0 || instruction->parts != 1) {
        return false;
    }
    append_text(&a->out, "cudasim_copy_wait(");
    bool good = append_operand(&a->out, a, instruction->part[0]);
    append_text(&a->out, ", " HERE);
    return good;
}

/* ---- one instruction ------------------------------------------------------------------------- */

static void trim(char *text) {
    for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]); n--) {
        text[n - 1] = '\0';
    }
}

void write_instruction(Asm *a, Instruction *instruction) {
    trim(instruction->name);
    for (int i = 0; i < instruction->parts; i++) {
        trim(instruction->part[i]);
    }
    if (instruction->parts == 1 && instruction->part[0][0] == '\0') {
        instruction->parts = 0;
    }
    append_text(&a->out, "{ ");
    if (!write_move(a, instruction) && !write_load(a, instruction) && !write_copy(a, instruction) &&
        !write_wait(a, instruction) && !write_address(a, instruction) &&
        !write_matrix(a, instruction)) {
        refuse(instruction, instruction->name);
    }
    append_text(&a->out, "} ");
}
