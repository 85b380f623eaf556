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

/* ---- loads and stores ------------------------------------------------------------------------ */

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
    static const char *const hints[] = {"nc", "ca", "cg", "cs", "lu", "wb", "wt"};
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (strcmp(piece, hints[i]) == 0) {
            return true;
        }
    }
    return strncmp(piece, "L1::", 4) == 0 || strncmp(piece, "L2::", 4) == 0;
}

/* ld.global.nc.v4.f32 */
typedef struct MemoryAccess {
    bool store, shared;
    int elements;
    const char *element, *type; /* of one, float; of all, float4 */
} MemoryAccess;

/* False if it is another instruction. */
static bool read_access(const char *name, MemoryAccess *x) {
    static const char *const begins[] = {"ld.global.", "ld.shared.", "st.global.", "st.shared."};
    const size_t count = sizeof begins / sizeof begins[0], length = 10;
    char piece[LONGEST];
    size_t begin = 0;
    while (begin < count && strncmp(name, begins[begin], length) != 0) {
        begin++;
    }
    *x = (MemoryAccess){.store = begin >= 2, .shared = begin % 2 == 1, .elements = 1};
    for (name += begin < count ? length : 0; begin < count && next_piece(&name, piece);) {
        if (strcmp(piece, "v2") == 0 || strcmp(piece, "v4") == 0) {
            x->elements = piece[1] - '0';
        } else if (!is_hint(piece)) {
            x->element = type_of(piece, 1);
            x->type = *name == '\0' ? type_of(piece, x->elements) : NULL;
            break;
        }
    }
    return x->type != NULL;
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

/* A pointer to bytes. */
static bool append_pointer(Asm *a, const MemoryAccess *x, const char *address) {
    if (!x->shared) {
        return append_address(&a->out, a, address, x->store ? "char *" : "const char *");
    }
    append_text(&a->out, "(char *)cudasim_shared_pointer(");
    bool good = append_address(&a->out, a, address, "unsigned long long");
    append_text(&a->out, ", __builtin_FILE(), __builtin_LINE())");
    return good;
}

static const char *const members[] = {"cudasim_v.x", "cudasim_v.y", "cudasim_v.z", "cudasim_v.w"};

static bool write_load(Asm *a, const MemoryAccess *x, const char *to, const char *address) {
    append_text(&a->out, "const ");
    append_text(&a->out, x->type);
    append_text(&a->out, " cudasim_v = cudasim_ptx_load<");
    append_text(&a->out, x->type);
    append_text(&a->out, ">(");
    bool good = append_pointer(a, x, address);
    append_text(&a->out, ", " HERE);
    for (int i = 0; i < x->elements && good; i++) {
        char element[LONGEST];
        good = element_text(to, i, x->elements, element) &&
               append_result(a, element, x->elements == 1 ? "cudasim_v" : members[i]);
    }
    return good;
}

/* One store, as a statement of the program's own line. */
static bool write_store(Asm *a, const MemoryAccess *x, const char *address, const char *from) {
    append_text(&a->out, x->type);
    append_text(&a->out, " cudasim_v; ");
    bool good = true;
    for (int i = 0; i < x->elements && good; i++) {
        char element[LONGEST];
        append_text(&a->out, x->elements == 1 ? "cudasim_v" : members[i]);
        append_text(&a->out, " = cudasim_as<");
        append_text(&a->out, x->element);
        append_text(&a->out, ">(");
        good = element_text(from, i, x->elements, element) && append_operand(&a->out, a, element);
        append_text(&a->out, "); ");
    }
    append_text(&a->out, "*(");
    append_text(&a->out, x->type);
    append_text(&a->out, " *)(");
    good = good && append_pointer(a, x, address);
    append_text(&a->out, ") = cudasim_v; ");
    return good;
}

static bool write_access(Asm *a, const Instruction *instruction) {
    MemoryAccess x;
    if (instruction->parts != 2 || !read_access(instruction->name, &x)) {
        return false;
    }
    const char *first = instruction->part[0], *second = instruction->part[1];
    return x.store ? write_store(a, &x, first, second) : write_load(a, &x, first, second);
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
    if (!write_move(a, instruction) && !write_access(a, instruction) &&
        !write_copy(a, instruction) && !write_wait(a, instruction) &&
        !write_address(a, instruction) && !write_matrix(a, instruction)) {
        refuse(instruction, instruction->name);
    }
    append_text(&a->out, "} ");
}
