#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"
#include "tokens.h"

/* Inline PTX that moves and multiplies matrices in the registers of a warp. */

/* ---- registers ------------------------------------------------------------------------------- */

/* How many there are in {%0, %1}. */
static int registers_in(const char *part) {
    int count = *part != '\0';
    for (; *part != '\0'; part++) {
        count += *part == ',';
    }
    return count;
}

/* const unsigned name[] = {the bits of each}; */
static bool append_registers(Asm *a, const char *name, const char *part) {
    int count = registers_in(part);
    bool good = true;
    append_text(&a->out, "const unsigned ");
    append_text(&a->out, name);
    append_text(&a->out, "[] = {");
    for (int i = 0; i < count && good; i++) {
        char element[LONGEST];
        append_text(&a->out, i > 0 ? ", cudasim_as<unsigned>(" : "cudasim_as<unsigned>(");
        good = element_text(part, i, part[0] == '{' ? 2 : 1, element) &&
               append_operand(&a->out, a, element);
        append_text(&a->out, ")");
    }
    append_text(&a->out, "}; ");
    return good;
}

/* Each register of the part becomes that of the array `cudasim_d`. */
static bool append_results(Asm *a, const char *part) {
    bool good = true;
    for (int i = 0; i < registers_in(part) && good; i++) {
        char element[LONGEST], value[LONGEST];
        snprintf(value, sizeof value, "cudasim_d[%d]", i);
        good = element_text(part, i, part[0] == '{' ? 2 : 1, element) &&
               append_result(a, element, value);
    }
    return good;
}

/* ---- ldmatrix -------------------------------------------------------------------------------- */

/* Assemblers take the parts of the name in any order. */
static bool write_load_matrix(Asm *a, const Instruction *instruction) {
    const char *name = instruction->name;
    char piece[LONGEST];
    int count = 0;
    bool transposed = false, halves = false;
    while (next_piece(&name, piece)) {
        if (piece[0] == 'x') {
            count = atoi(piece + 1);
        }
        transposed = transposed || strcmp(piece, "trans") == 0;
        halves = halves || strcmp(piece, "m8n8") == 0;
        if (piece[0] == 'b' && strcmp(piece, "b16") != 0) {
            return false;
        }
    }
    bool known = halves && (count == 1 || count == 2 || count == 4);
    if (!known || instruction->parts != 2 || registers_in(instruction->part[0]) != count) {
        return false;
    }
    char text[LONGEST];
    snprintf(text, sizeof text, "unsigned cudasim_d[%d]; cudasim_ptx_load_matrices(%d, %d, ", count,
             count, transposed);
    append_text(&a->out, text);
    append_text(&a->out, "cudasim_d, ");
    bool good = append_address(&a->out, a, instruction->part[1], "unsigned long long");
    append_text(&a->out, ", " HERE);
    return good && append_results(a, instruction->part[0]);
}

/* ---- mma.sync -------------------------------------------------------------------------------- */

typedef struct Element {
    const char *piece, *type; /* of the instruction's name; of enum cudasim_ptx_type */
    int bits, least;          /* of an element; the smaller k of its two shapes */
} Element;

static const Element *element_named(const char *piece) {
    static const Element known[] = {
        {"f16", "CUDASIM_PTX_F16", 16, 8},   {"bf16", "CUDASIM_PTX_BF16", 16, 8},
        {"tf32", "CUDASIM_PTX_TF32", 32, 4}, {"s8", "CUDASIM_PTX_S8", 8, 16},
        {"u8", "CUDASIM_PTX_U8", 8, 16},     {"f32", "CUDASIM_PTX_F32", 32, 0},
        {"s32", "CUDASIM_PTX_S32", 32, 0}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(piece, known[i].piece) == 0) {
            return &known[i];
        }
    }
    return NULL;
}

/* The parts of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32. */
typedef struct ProductName {
    int k, types;
    bool row, col, clamp;
    const Element *d, *a, *b, *c;
} ProductName;

static bool read_piece(ProductName *said, const char *piece) {
    const Element **const type[] = {&said->d, &said->a, &said->b, &said->c};
    const Element *found = element_named(piece);
    if (found != NULL && said->types < 4) {
        *type[said->types++] = found;
        return true;
    }
    bool row = strcmp(piece, "row") == 0, col = strcmp(piece, "col") == 0;
    bool clamp = strcmp(piece, "satfinite") == 0;
    said->row = said->row || row;
    said->col = said->col || col;
    said->clamp = said->clamp || clamp;
    return row || col || clamp || (sscanf(piece, "m16n8k%d", &said->k) == 1);
}

/* Bytes of a and b may differ in sign. Halves are summed in float or in half, the others in float,
   bytes in whole numbers. */
static bool is_simulated(const ProductName *said) {
    if (said->types != 4 || !said->row || !said->col || said->c != said->d) {
        return false;
    }
    const char *sum = said->d->piece;
    bool bytes = said->a->bits == 8, half = strcmp(said->a->piece, "f16") == 0;
    bool sums = bytes ? strcmp(sum, "s32") == 0
                      : strcmp(sum, "f32") == 0 || (half && strcmp(sum, "f16") == 0);
    bool alike = bytes ? said->b->bits == 8 : said->a == said->b;
    bool k = said->k == said->a->least || said->k == 2 * said->a->least;
    return alike && sums && said->a->least > 0 && k && (!said->clamp || bytes);
}

/* 32 lanes hold 16 x k elements of a, k x 8 of b and 16 x 8 of c and d. */
static bool has_registers(const ProductName *said, const Instruction *instruction) {
    enum { BITS = 32 * 32 };
    const int count[] = {16 * 8 * said->d->bits / BITS, 16 * said->k * said->a->bits / BITS,
                         8 * said->k * said->b->bits / BITS, 16 * 8 * said->c->bits / BITS};
    bool right = instruction->parts == 4;
    for (int i = 0; i < 4 && right; i++) {
        right = registers_in(instruction->part[i]) == count[i];
    }
    return right;
}

static bool write_product(Asm *a, const Instruction *instruction) {
    ProductName said = {0};
    const char *name = instruction->name + strlen("mma.sync.aligned.");
    char piece[LONGEST], text[LONGEST];
    while (next_piece(&name, piece)) {
        if (!read_piece(&said, piece)) {
            return false;
        }
    }
    if (!is_simulated(&said)) {
        return false;
    }
    if (!has_registers(&said, instruction)) {
        error_at(instruction->token, "inline PTX: %s has other numbers of registers",
                 instruction->name);
        return true;
    }
    bool good = append_registers(a, "cudasim_a", instruction->part[1]) &&
                append_registers(a, "cudasim_b", instruction->part[2]) &&
                append_registers(a, "cudasim_c", instruction->part[3]);
    snprintf(text, sizeof text, "unsigned cudasim_d[%d]; ", registers_in(instruction->part[0]));
    append_text(&a->out, text);
    snprintf(text, sizeof text, "const cudasim_ptx_product cudasim_p = {%d, %s, %s, %s, %d, ",
             said.k, said.a->type, said.b->type, said.d->type, said.clamp);
    append_text(&a->out, text);
    append_text(&a->out, "cudasim_d, cudasim_a, cudasim_b, cudasim_c}; "
                         "cudasim_ptx_multiply(&cudasim_p, " HERE);
    return good && append_results(a, instruction->part[0]);
}

bool write_matrix(Asm *a, const Instruction *instruction) {
    const char *name = instruction->name;
    return strncmp(name, "ldmatrix.sync.aligned.", 22) == 0 ? write_load_matrix(a, instruction)
           : strncmp(name, "mma.sync.aligned.", 17) == 0    ? write_product(a, instruction)
                                                            : false;
}
