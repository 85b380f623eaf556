#include <limits.h>
#include <string.h>

#include "block.h"
#include "cuda_fp16.h"

/* ldmatrix and mma.sync of inline PTX. Matrices lie in the registers of a warp, and who has what is
   laid down: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions". A register of 32 bits
   holds one or more neighbours of a row of a, of a column of b. */

enum { M = 16, N = 8, MOST_K = 32, ROW = 16 /* bytes of a row of ldmatrix */ };
enum { LANES = 4 /* that share a row of a matrix of eight rows */ };

/* All lanes of the warp, which must have come to one and the same instruction. */
static Meeting *meet_here(int operation, unsigned long long value, Place place) {
    Meeting *meeting = cudasim_meet_warp(operation, value, place.file, place.line);
    Place first = {meeting->file, meeting->line};
    if (first.line != place.line || strcmp(sim_file(first), sim_file(place)) != 0) {
        sim_report("undefined shuffle",
                   "lanes of one warp are at two instructions: %s at %s:%d and at %s:%d",
                   sim_operation_name(operation), sim_file(place), place.line, sim_file(first),
                   first.line);
        sim_detail_thread();
        sim_abort_block();
    }
    return meeting;
}

typedef cudasim_ptx_product Product;

static int elements(int type) {
    return type == CUDASIM_PTX_F32 || type == CUDASIM_PTX_TF32 || type == CUDASIM_PTX_S32 ? 1
           : type == CUDASIM_PTX_S8 || type == CUDASIM_PTX_U8                             ? 4
                                                                                          : 2;
}

/* Element e of a register, exactly: a double holds them all. */
static double element(int type, unsigned bits, int e) {
    float value;
    unsigned short half = (unsigned short)(bits >> 16 * (e & 1));
    unsigned char byte = (unsigned char)(bits >> 8 * (e & 3));
    switch (type) {
    case CUDASIM_PTX_F16:
        return (double)cudasim_half_to_float(half);
    case CUDASIM_PTX_S8:
        return (signed char)byte;
    case CUDASIM_PTX_U8:
        return byte;
    case CUDASIM_PTX_S32:
        return (int)bits;
    case CUDASIM_PTX_BF16:
        bits = (unsigned)half << 16;
        break;
    case CUDASIM_PTX_TF32:
        bits &= ~0x1fffu; /* what tensor cores do not read */
        break;
    default:
        break;
    }
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

typedef struct Matrices {
    double a[M][MOST_K], b[MOST_K][N], sum[M][N];
} Matrices;

/* Where lane and register place element e, of those of a matrix with rows of `per` to a register:
   registers go down first, then to the right. */
static int row_of(int lane, int r) {
    return lane / LANES + 8 * (r % 2);
}

static int column_of(int lane, int r, int per, int e) {
    return (lane % LANES + LANES * (r / 2)) * per + e;
}

static void gather(Matrices *all, const Product *p, int lane) {
    int per_a = elements(p->a_type), per_b = elements(p->b_type);
    for (int r = 0; r < M * p->k / per_a / WARP; r++) {
        for (int e = 0; e < per_a; e++) {
            all->a[row_of(lane, r)][column_of(lane, r, per_a, e)] = element(p->a_type, p->a[r], e);
        }
    }
    for (int r = 0; r < N * p->k / per_b / WARP; r++) {
        for (int e = 0; e < per_b; e++) {
            int l = (lane % LANES + LANES * r) * per_b + e;
            all->b[l][lane / LANES] = element(p->b_type, p->b[r], e);
        }
    }
}

/* A register of sums holds one, or two halves; each lane has two neighbours in two rows. */
static int sum_row(int lane, int i) {
    return lane / LANES + 8 * (i / 2);
}

static int sum_column(int lane, int i) {
    return 2 * (lane % LANES) + i % 2;
}

static void gather_sums(Matrices *all, const Product *p, int lane) {
    int per = elements(p->sum_type);
    for (int i = 0; i < 4; i++) {
        all->sum[sum_row(lane, i)][sum_column(lane, i)] =
            element(p->sum_type, p->c[i / per], i % per);
    }
}

/* In the order of k; each sum is rounded to float, products are exact. Whole numbers are exact. */
static void multiply(Matrices *all, const Product *p) {
    bool whole = p->sum_type == CUDASIM_PTX_S32;
    for (int i = 0; i < M; i++) {
        for (int l = 0; l < p->k; l++) {
            for (int j = 0; j < N; j++) {
                double product = all->a[i][l] * all->b[l][j], *sum = &all->sum[i][j];
                *sum = whole ? *sum + product : (double)((float)*sum + (float)product);
            }
        }
    }
}

static unsigned sum_bits(const Product *p, double sum) {
    float value = (float)sum;
    unsigned bits;
    switch (p->sum_type) {
    case CUDASIM_PTX_F16:
        return cudasim_half_from_float(value);
    case CUDASIM_PTX_S32:
        if (p->clamp) {
            sum = sum < INT_MIN ? INT_MIN : sum > INT_MAX ? INT_MAX : sum;
        }
        return (unsigned)(long long)sum;
    default:
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
}

static void scatter(const Matrices *all, const Product *p, int lane) {
    int per = elements(p->sum_type);
    for (int i = 0; i < 4; i++) {
        unsigned bits = sum_bits(p, all->sum[sum_row(lane, i)][sum_column(lane, i)]);
        p->d[i / per] = i % per == 0 ? bits : p->d[i / per] | bits << 16;
    }
}

static const Product *brought_by(const Meeting *meeting, int lane) {
    return (const Product *)(uintptr_t)meeting->value[lane]; // NOLINT: its address
}

static void multiply_all(const Meeting *meeting, const Product *mine) {
    Matrices all;
    for (int lane = 0; lane < WARP; lane++) {
        gather(&all, brought_by(meeting, lane), lane);
        gather_sums(&all, brought_by(meeting, lane), lane);
    }
    multiply(&all, mine);
    for (int lane = 0; lane < WARP; lane++) {
        scatter(&all, brought_by(meeting, lane), lane);
    }
}

void cudasim_ptx_multiply(const Product *product, const char *file, int line) {
    unsigned long long mine = (unsigned long long)(uintptr_t)product;
    Meeting *meeting = meet_here(CUDASIM_PTX_MMA, mine, (Place){file, line});
    if (cudasim_lane == 0) {
        multiply_all(meeting, product); /* while the others wait */
    }
    sim_part(meeting);
    sim_part(cudasim_meet_warp(CUDASIM_PTX_MMA, 0, file, line));
}

/* ---- matrices from shared memory ------------------------------------------------------------- */

/* Each lane gives the address of a row: lane 8 i + j of row j of matrix i. */
static const char *row_at(const Meeting *meeting, int lane, const char *file, int line) {
    Place place = {file, line};
    unsigned long long address = meeting->value[lane];
    const char *row = cudasim_shared_pointer(address, file, line);
    if (address % ROW != 0) {
        sim_report("misaligned access",
                   "ldmatrix at %s:%d: a row must begin at a multiple of 16 bytes", sim_file(place),
                   line);
        sim_detail("the address of lane %d is %llu bytes past one", lane, address % ROW);
        sim_detail_thread();
        sim_abort_block();
    }
    return row;
}

void cudasim_ptx_load_matrices(int count, int transposed, unsigned *to, unsigned long long address,
                               const char *file, int line) {
    Meeting *meeting = meet_here(CUDASIM_LDMATRIX, address, (Place){file, line});
    int row = cudasim_lane / LANES, pair = 2 * (cudasim_lane % LANES);
    for (int i = 0; i < count; i++) {
        to[i] = 0;
        for (int e = 0; e < 2; e++) {
            int from = transposed ? pair + e : row, element = transposed ? row : pair + e;
            const char *p = row_at(meeting, 8 * i + from, file, line) + 2 * element;
            unsigned short half;
            cudasim_before_access(p, sizeof half, false, file, line);
            memcpy(&half, p, sizeof half);
            to[i] |= (unsigned)half << 16 * e;
        }
    }
    sim_part(meeting);
}
