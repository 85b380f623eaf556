/**
 * @file mma.h
 * @brief Tensor cores as cudasim offers them: nvcuda::wmma.
 * @ingroup cudasim
 *
 *     shapes       16x16x16, 32x8x16 and 8x32x16 (m x n x k)
 *     inputs       __half and __nv_bfloat16, row_major or col_major
 *     sums         float; __half too where the inputs are
 *
 * A product is d = c + a_1 b_1 + ... + a_16 b_16, summed in this order: products are exact, each
 * sum is rounded to float, and a half is rounded once more at the end. A GPU sums in another order.
 *
 * Which element a lane has in x[i] is nobody's business, and not what it is on a GPU: a program
 * that counts on it goes wrong here. What all lanes must do together is checked in wmma.c, and a
 * fragment is full of ones until something is stored in it.
 */
#ifndef CUDASIM_MMA_H
#define CUDASIM_MMA_H

#ifdef CUDASIM_SEALED_H
#error "cudasim: unsupported: tensor cores (mma.h) in a graded file; sum products in float"
#endif

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

/** @cond */
CUDASIM_SIDES_BEGIN
#define CUDASIM_METHOD CUDASIM_UNCHECKED

namespace nvcuda {
namespace wmma {

struct matrix_a {
    static constexpr const char *cudasim_name = "matrix_a";
};
struct matrix_b {
    static constexpr const char *cudasim_name = "matrix_b";
};
struct accumulator {
    static constexpr const char *cudasim_name = "accumulator";
};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct CUDASIM_NO("wmma with tf32; use half or bf16") tf32 {};
struct CUDASIM_NO("wmma with integers; use half or bf16") u4 {};
struct CUDASIM_NO("wmma with integers; use half or bf16") s4 {};
struct CUDASIM_NO("wmma with bits; use half or bf16") b1 {};
} // namespace precision

/* ---- fragments ------------------------------------------------------------------------------- */

template <class Type, class... Among>
inline constexpr bool cudasim_one_of = (std::is_same<Type, Among>::value || ...);

/* Lane l has elements l, l + 32, ... of the matrix, counted along its rows, or along its columns
   if it is col_major. */
template <class Use, int m, int n, int k, class Type, class Layout = void> class fragment {
    static constexpr bool is_sum = std::is_same<Use, accumulator>::value;
    static_assert(k == 16 && m * n == 256 && (m == 8 || m == 16 || m == 32),
                  "cudasim: unsupported: this shape of wmma; 16x16x16, 32x8x16 and 8x32x16 are");
    static_assert(is_sum ? cudasim_one_of<Type, float, __half>
                         : cudasim_one_of<Type, __half, __nv_bfloat16>,
                  "cudasim: unsupported: this type of wmma; half, bf16 and float sums are");
    static_assert(is_sum ? std::is_same<Layout, void>::value
                         : cudasim_one_of<Layout, row_major, col_major>,
                  "cudasim: a matrix is row_major or col_major, an accumulator is neither");

  public:
    static constexpr int cudasim_rows = std::is_same<Use, matrix_b>::value ? k : m;
    static constexpr int cudasim_columns = std::is_same<Use, matrix_a>::value ? k : n;
    static constexpr bool cudasim_by_rows = !std::is_same<Layout, col_major>::value;
    static constexpr int num_elements = cudasim_rows * cudasim_columns / 32;
    typedef Use cudasim_use;
    typedef Type element_type;
    typedef Type storage_element_type;
    Type x[num_elements];

    CUDASIM_METHOD fragment() {
        __builtin_memset((void *)x, 0xff, sizeof x);
    }
    CUDASIM_METHOD static int cudasim_row(int lane, int i) {
        int e = lane + 32 * i;
        return cudasim_by_rows ? e / cudasim_columns : e % cudasim_rows;
    }
    CUDASIM_METHOD static int cudasim_column(int lane, int i) {
        int e = lane + 32 * i;
        return cudasim_by_rows ? e % cudasim_columns : e / cudasim_rows;
    }
    /* The ones of the constructor: a NaN that no arithmetic gives. */
    CUDASIM_METHOD bool cudasim_unset() const {
        static const unsigned char ones[] = {0xff, 0xff, 0xff, 0xff};
        for (const Type &element : x) {
            if (__builtin_memcmp((const void *)&element, ones, sizeof element) == 0) {
                return true;
            }
        }
        return false;
    }
};

template <class Fragment>
CUDASIM_DEVICE void cudasim_need_set(int operation, const Fragment &f, const char *file, int line) {
    if (f.cudasim_unset()) {
        cudasim_unset_fragment(operation, Fragment::cudasim_use::cudasim_name, file, line);
    }
}

template <class Use, int m, int n, int k, class Type, class Layout, class Value>
CUDASIM_DEVICE void fill_fragment(fragment<Use, m, n, k, Type, Layout> &f, const Value &value) {
    for (Type &element : f.x) {
        element = (Type)value;
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Calls visit(i, element) for each of the lane's elements, which are announced to check mode. */
template <class Fragment, class Type, class Value>
CUDASIM_DEVICE void cudasim_each(Type *p, unsigned ld, bool by_rows, bool write, Value visit,
                                 const char *file, int line) {
    for (int i = 0; i < Fragment::num_elements; i++) {
        size_t row = (size_t)Fragment::cudasim_row(cudasim_lane, i);
        size_t column = (size_t)Fragment::cudasim_column(cudasim_lane, i);
        Type *element = p + (by_rows ? row * ld + column : column * ld + row);
        cudasim_before_access(element, sizeof *element, write, file, line);
        visit(i, element);
    }
}

template <class Fragment, class Type>
CUDASIM_DEVICE void cudasim_load(Fragment &f, const Type *p, unsigned ld, bool by_rows,
                                 const char *file, int line) {
    cudasim_meet_matrix(CUDASIM_LOAD_MATRIX, p, ld, sizeof(Type), 0, file, line);
    cudasim_each<Fragment>(
        p, ld, by_rows, false,
        [&f](int i, const Type *element) CUDASIM_UNCHECKED { f.x[i] = *element; }, file, line);
}

/* The pointer's type is the fragment's, as in CUDA. */
template <class Type> struct cudasim_as { typedef Type type; };

template <class Use, int m, int n, int k, class Type, class Layout>
CUDASIM_DEVICE void load_matrix_sync(fragment<Use, m, n, k, Type, Layout> &f,
                                     const typename cudasim_as<Type>::type *p, unsigned ld,
                                     CUDASIM_CALLER) {
    static_assert(!std::is_same<Use, accumulator>::value,
                  "cudasim: for an accumulator say mem_row_major or mem_col_major");
    cudasim_load(f, p, ld, std::is_same<Layout, row_major>::value, file, line);
}

template <int m, int n, int k, class Type>
CUDASIM_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, Type> &f,
                                     const typename cudasim_as<Type>::type *p, unsigned ld,
                                     layout_t layout, CUDASIM_CALLER) {
    cudasim_load(f, p, ld, layout == mem_row_major, file, line);
}

template <int m, int n, int k, class Type>
CUDASIM_DEVICE void store_matrix_sync(typename cudasim_as<Type>::type *p,
                                      const fragment<accumulator, m, n, k, Type> &f, unsigned ld,
                                      layout_t layout, CUDASIM_CALLER) {
    typedef fragment<accumulator, m, n, k, Type> Fragment;
    cudasim_need_set(CUDASIM_STORE_MATRIX, f, file, line);
    cudasim_meet_matrix(CUDASIM_STORE_MATRIX, p, ld, sizeof(Type), layout == mem_row_major ? n : m,
                        file, line);
    cudasim_each<Fragment>(
        p, ld, layout == mem_row_major, true,
        [&f](int i, Type *element) CUDASIM_UNCHECKED { *element = f.x[i]; }, file, line);
}

/* ---- the product ----------------------------------------------------------------------------- */

/* The fragments that a lane brings. */
template <class Result, class First, class Second, class Added> struct cudasim_factors {
    Result *d;
    const First *a;
    const Second *b;
    const Added *c;
};

/* Puts the lane's part of a matrix where it belongs. */
template <class Fragment>
CUDASIM_DEVICE void cudasim_spread(float *matrix, const Fragment *f, int lane) {
    for (int i = 0; i < Fragment::num_elements; i++) {
        matrix[Fragment::cudasim_row(lane, i) * Fragment::cudasim_columns +
               Fragment::cudasim_column(lane, i)] = (float)f->x[i];
    }
}

template <int m, int n, int k>
CUDASIM_DEVICE void cudasim_multiply(float *sum, const float *a, const float *b) {
    for (int i = 0; i < m; i++) {
        for (int l = 0; l < k; l++) {
            for (int j = 0; j < n; j++) {
                sum[i * n + j] += a[i * k + l] * b[l * n + j];
            }
        }
    }
}

/* One lane does it for all, while the others wait. */
template <int m, int n, int k, class Result, class First, class Second, class Added>
CUDASIM_DEVICE void cudasim_multiply_all(const cudasim_meeting *meeting) {
    typedef const cudasim_factors<Result, First, Second, Added> *Brought;
    float a[m * k], b[k * n], sum[m * n];
    for (int lane = 0; lane < 32; lane++) {
        Brought brought = (Brought)meeting->value[lane];
        cudasim_spread(a, brought->a, lane);
        cudasim_spread(b, brought->b, lane);
        cudasim_spread(sum, brought->c, lane);
    }
    cudasim_multiply<m, n, k>(sum, a, b);
    for (int lane = 0; lane < 32; lane++) {
        Result *d = ((Brought)meeting->value[lane])->d;
        for (int i = 0; i < Result::num_elements; i++) {
            d->x[i] = (typename Result::element_type)
                sum[Result::cudasim_row(lane, i) * n + Result::cudasim_column(lane, i)];
        }
    }
}

/** d = a b + c; d may be c. */
template <int m, int n, int k, class Type, class LayoutA, class LayoutB, class TypeD, class TypeC>
CUDASIM_DEVICE void mma_sync(fragment<accumulator, m, n, k, TypeD> &d,
                             const fragment<matrix_a, m, n, k, Type, LayoutA> &a,
                             const fragment<matrix_b, m, n, k, Type, LayoutB> &b,
                             const fragment<accumulator, m, n, k, TypeC> &c, CUDASIM_CALLER) {
    typedef fragment<matrix_a, m, n, k, Type, LayoutA> First;
    typedef fragment<matrix_b, m, n, k, Type, LayoutB> Second;
    typedef fragment<accumulator, m, n, k, TypeC> Added;
    typedef fragment<accumulator, m, n, k, TypeD> Result;
    static_assert(std::is_same<Type, __half>::value ||
                      (std::is_same<TypeC, float>::value && std::is_same<TypeD, float>::value),
                  "cudasim: products of bf16 are summed in float");
    cudasim_need_set(CUDASIM_MMA, a, file, line);
    cudasim_need_set(CUDASIM_MMA, b, file, line);
    cudasim_need_set(CUDASIM_MMA, c, file, line);
    cudasim_factors<Result, First, Second, Added> mine = {&d, &a, &b, &c};
    cudasim_meeting *meeting =
        cudasim_meet_warp(CUDASIM_MMA, (unsigned long long)(uintptr_t)&mine, file, line);
    if (cudasim_lane == 0) {
        cudasim_multiply_all<m, n, k, Result, First, Second, Added>(meeting);
    }
    cudasim_part(meeting);
    cudasim_part(cudasim_meet_warp(CUDASIM_MMA, 0, file, line));
}

} // namespace wmma
} // namespace nvcuda
#undef CUDASIM_METHOD
CUDASIM_SIDES_END
/** @endcond */

#endif
