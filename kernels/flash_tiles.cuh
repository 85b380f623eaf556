/**
 * @file flash_tiles.cuh
 * @brief Tiles of heads in shared memory, and what a warp does with them on tensor cores.
 * @ingroup kernels
 *
 * For flash_tensor.cu, in f16 and bf16 alone. A product is made by a whole warp, and which lane has
 * which of its numbers is not known. So what is not a product happens in the warp's own scratch
 * memory: it stores the sums there, and each lane takes half a row of them, in float. What becomes
 * of them is rounded to the storage type and is the left factor of the next product.
 *
 * All functions are called by whole warps, load() and arrive() by whole blocks. Only arrive() has a
 * barrier of the block.
 */
#ifndef KERNELS_FLASH_TILES_CUH
#define KERNELS_FLASH_TILES_CUH

#include <cuda_pipeline.h>
#include <mma.h>

#include "kernels/flash_head.cuh"

using namespace nvcuda;

/** Sizes of tiles, in numbers. */
enum {
    WARP = 32,          /**< lanes of a warp */
    SIDE = 16,          /**< of the matrices that tensor cores multiply; rows of a warp */
    STEP = 2 * SIDE,    /**< rows of the other side that are taken at once */
    EACH = STEP / 2,    /**< numbers of sums that a lane takes: half a row */
    FOUR = 4,           /**< of them, neighbours */
    PAD = 8,            /**< beside each row, so that 16 bytes of 8 rows lie in different banks */
    WIDTH = STEP + PAD, /**< of a row of scratch memory */
};
/** The mask of a whole warp. */
#define ALL_LANES 0xffffffffu

/** A factor's numbers, as tensor cores know them. Before sm_80 they know no bf16, and the code only
    has to compile. */
#if defined REAL_BF16 && (!defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800)
typedef __nv_bfloat16 Number;
#else
typedef __half Number;
#endif
/** A left factor, from rows. */
typedef wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, Number, wmma::row_major> Left;
/** A right factor, from rows. */
typedef wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, Number, wmma::row_major> Right;
/** A right factor whose transpose lies in rows. */
typedef wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, Number, wmma::col_major> RightTransposed;
/** Their sums. */
typedef wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> Sums;

/** A warp's: 16 rows of sums, or what was made of them. */
union __align__(32) Scratch {
    float sums[SIDE][WIDTH];   /**< of products */
    Real left[2][SIDE][WIDTH]; /**< left factors of products */
};

/** As many neighbours as a lane takes at once: 8 bytes. */
union Four {
    uint2 bits;      /**< as one word of 8 bytes */
    Real real[FOUR]; /**< as numbers */
};

/** Rows of a head in shared memory. */
template <int ROWS, int HEAD> struct __align__(32) Rows {
    Real x[ROWS][HEAD + PAD]; /**< (ROWS, HEAD), zeros after the last row and after the head */
};

/** Rows of two heads that are taken together. */
template <int ROWS, int HEAD> struct Pair {
    Rows<ROWS, HEAD> a; /**< of queries or keys */
    Rows<ROWS, HEAD> b; /**< of dout or values */
};

/** This thread's warp, from 0. */
static __device__ inline int warp_of_thread(void) {
    return threadIdx.x / WARP;
}

/** The row of the numbers that this lane takes from the scratch memory: two lanes share one. */
static __device__ inline int lane_row(void) {
    return threadIdx.x % WARP / 2;
}

/** The column of number j of them. They come in fours, 16 bytes, and no two lanes' fours share a
   bank. */
static __device__ inline int lane_column(int j) {
    return j / FOUR * 2 * FOUR + threadIdx.x % 2 * FOUR + j % FOUR;
}

#if defined REAL_BF16 && !defined CUDASIM && defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
/** @cond */
#define LOAD(Factor, which, order)                                                                 \
    static __device__ inline void factor_load(Factor &to, const Real *from, unsigned ld) {         \
        unsigned *x = (unsigned *)to.x;                                                            \
        asm volatile("wmma.load." which ".sync.aligned." order ".m16n16k16.shared.bf16 "           \
                     "{%0, %1, %2, %3}, [%4], %5;"                                                 \
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])                              \
                     : "r"((unsigned)__cvta_generic_to_shared(from)), "r"(ld)                      \
                     : "memory");                                                                  \
    }
/** @endcond */
/* In bf16 nvcc forgets that a matrix of load_matrix_sync() lies in shared memory, and takes it in
   words of 4 bytes from wherever it may be: four times the instructions, or eight. This one says
   `.shared`; all else is what load_matrix_sync() is. */
LOAD(Left, "a", "row")
LOAD(Right, "b", "row")
LOAD(RightTransposed, "b", "col")
#undef LOAD
#else
/** A factor from shared memory, whose rows are `ld` numbers apart. */
template <class Factor>
static __device__ inline void factor_load(Factor &to, const Real *from, unsigned ld) {
    wmma::load_matrix_sync(to, (const Number *)from, ld);
}
#endif

/** Begins to copy rows of a head from global memory, from row `first` on, 16 bytes at once. */
template <int THREADS, int ROWS, int HEAD>
static __device__ void load(Rows<ROWS, HEAD> *to, HeadView head, int first) {
    enum { PACKS = HEAD / PACK, LOADS = ROWS * PACKS / THREADS };
#pragma unroll 1 /* nobody waits for them; more would take registers for addresses */
    for (int n = 0; n < LOADS; n++) {
        int at = n * THREADS + threadIdx.x;
        int row = at / PACKS, i = at % PACKS * PACK;
        bool inside = first + row < head.T && i < head.HS;
        const Real *from = head.x + (inside ? (size_t)(first + row) * head.stride + i : 0);
        __pipeline_memcpy_async(&to->x[row][i], from, sizeof(Pack), inside ? 0 : sizeof(Pack));
    }
}

/** The same rows of two heads; they are there after arrive(). */
template <int THREADS, int ROWS, int HEAD>
static __device__ void load(Pair<ROWS, HEAD> *to, HeadView a, HeadView b, int first) {
    load<THREADS>(&to->a, a, first);
    load<THREADS>(&to->b, b, first);
}

/** Waits for all that the block's threads have begun to copy. No thread comes out before all have
    come in, so each may then write what others have read before. */
static __device__ inline void arrive(void) {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
}

/** A warp's rows as left factors. */
template <int ROWS, int HEAD>
static __device__ void own_rows(Left (&left)[HEAD / SIDE], const Rows<ROWS, HEAD> *rows,
                                int first) {
#pragma unroll
    for (int i = 0; i < HEAD; i += SIDE) {
        factor_load(left[i / SIDE], &rows->x[first][i], HEAD + PAD);
    }
}

/** sums = 0 */
template <int COLUMNS> static __device__ void clear(Sums (&sums)[COLUMNS / SIDE]) {
    for (int i = 0; i < COLUMNS / SIDE; i++) {
        wmma::fill_fragment(sums[i], 0.0f);
    }
}

/** sums += left b^T, of 16 columns from i on. */
template <int HEAD>
static __device__ void add_dots(Sums (&sums)[STEP / SIDE], const Left &left,
                                const Rows<STEP, HEAD> *b, int i) {
    for (int j = 0; j < STEP / SIDE; j++) {
        RightTransposed right;
        factor_load(right, &b->x[j * SIDE][i], HEAD + PAD);
        wmma::mma_sync(sums[j], left, right, sums[j]);
    }
}

/** scratch->sums = sums */
static __device__ inline void sums_write(Scratch *scratch, const Sums (&sums)[STEP / SIDE]) {
    __syncwarp(); /* no lane may still read what was there */
    for (int j = 0; j < STEP / SIDE; j++) {
        wmma::store_matrix_sync(&scratch->sums[0][j * SIDE], sums[j], WIDTH, wmma::mem_row_major);
    }
    __syncwarp();
}

/** scratch->sums = left b^T, 16 rows by STEP rows of b. */
template <int HEAD>
static __device__ void dots(Scratch *scratch, const Left (&left)[HEAD / SIDE],
                            const Rows<STEP, HEAD> *b) {
    Sums sums[STEP / SIDE];
    clear<STEP>(sums);
#pragma unroll
    for (int i = 0; i < HEAD; i += SIDE) {
        add_dots(sums, left[i / SIDE], b, i);
    }
    sums_write(scratch, sums);
}

/** The same of 16 rows in shared memory, where registers are too few to keep them. */
template <int ROWS, int HEAD>
static __device__ void dots(Scratch *scratch, const Rows<ROWS, HEAD> *a, int a_row,
                            const Rows<STEP, HEAD> *b) {
    Sums sums[STEP / SIDE];
    clear<STEP>(sums);
#pragma unroll 2 /* more would take registers for addresses */
    for (int i = 0; i < HEAD; i += SIDE) {
        Left left;
        factor_load(left, &a->x[a_row][i], HEAD + PAD);
        add_dots(sums, left, b, i);
    }
    sums_write(scratch, sums);
}

/** sums += left b, STEP columns of the one by STEP rows of the other. */
template <int HEAD>
static __device__ void add_product(Sums (&sums)[HEAD / SIDE], const Real (&left)[SIDE][WIDTH],
                                   const Rows<STEP, HEAD> *b) {
    for (int j = 0; j < STEP; j += SIDE) {
        Left factor;
        factor_load(factor, &left[0][j], WIDTH);
#pragma unroll /* else the compiler keeps `sums` in memory */
        for (int i = 0; i < HEAD; i += SIDE) {
            Right right;
            factor_load(right, &b->x[j][i], HEAD + PAD);
            wmma::mma_sync(sums[i / SIDE], factor, right, sums[i / SIDE]);
        }
    }
}

/** The lane's numbers of scratch->sums. */
static __device__ void lane_read(float x[EACH], const Scratch *scratch) {
    for (int j = 0; j < EACH; j += FOUR) {
        float4 four = *(const float4 *)&scratch->sums[lane_row()][lane_column(j)];
        x[j] = four.x, x[j + 1] = four.y, x[j + 2] = four.z, x[j + 3] = four.w;
    }
}

/** The same numbers, rounded: a left factor of a product. */
static __device__ void lane_write(Real (&left)[SIDE][WIDTH], const float x[EACH]) {
    for (int j = 0; j < EACH; j += FOUR) {
        Four *four = (Four *)&left[lane_row()][lane_column(j)];
        Four rounded;
        rounded.real[0] = real(x[j]), rounded.real[1] = real(x[j + 1]);
        rounded.real[2] = real(x[j + 2]), rounded.real[3] = real(x[j + 3]);
        four->bits = rounded.bits;
    }
}

/** The sum over a row, of both its lanes. */
static __device__ inline float row_sum(float x) {
    return x + __shfl_xor_sync(ALL_LANES, x, 1);
}

/** Rows of a head in global memory, from `first` on, become factor * sums; `factor` is that of
    the lane's row. */
template <int HEAD>
static __device__ void store(HeadView head, int first, Sums (&sums)[HEAD / SIDE], Scratch *scratch,
                             float factor) {
    enum { PACKS = STEP / PACK };
#pragma unroll
    for (int i = 0; i < HEAD; i += STEP) {
        __syncwarp();
        for (int j = 0; j < STEP; j += SIDE) {
            wmma::store_matrix_sync(&scratch->sums[0][j], sums[(i + j) / SIDE], WIDTH,
                                    wmma::mem_row_major);
        }
        __syncwarp();
        for (int at = threadIdx.x % WARP; at < SIDE * PACKS; at += WARP) {
            int row = at / PACKS, col = at % PACKS * PACK;
            float of_row = __shfl_sync(ALL_LANES, factor, 2 * row);
            if (first + row < head.T && i + col < head.HS) {
                Real *to = head.x + (size_t)(first + row) * head.stride + i + col;
                Pack pack;
                for (int j = 0; j < PACK; j++) {
                    pack.real[j] = real(of_row * scratch->sums[row][col + j]);
                }
                /* not by `=`, of which nvcc makes narrow stores in the unrolled loop */
                __stwb((uint4 *)to, pack.bits);
            }
        }
    }
}

#endif
