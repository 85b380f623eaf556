/**
 * @file cudasim_ptx.h
 * @brief What inline PTX becomes, and the addresses that it uses. Included by cudasim_kernel.h.
 * @ingroup cudasim
 *
 * cu2cpp turns a few instructions into C++ that calls these.
 */
#ifndef CUDASIM_PTX_H
#define CUDASIM_PTX_H

/** @cond */
/* A register takes the bits of a value of its size; others are converted. */
template <class Register, class From> CUDASIM_DEVICE auto cudasim_as(From value) {
    typedef std::remove_cv_t<std::remove_reference_t<Register>> To;
    if constexpr (sizeof(To) == sizeof(From)) {
        To to;
        __builtin_memcpy((void *)&to, &value, sizeof to);
        return to;
    } else {
        return (To)value;
    }
}

CUDASIM_DEVICE unsigned cudasim_warp_id() {
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / 32;
}

CUDASIM_DEVICE unsigned cudasim_multiprocessor() {
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    return block % cudasim_multiprocessors();
}

/* An address of shared memory is a number of 32 bits; other addresses are as they are. */
CUDASIM_DEVICE size_t __cvta_generic_to_shared(const void *p, CUDASIM_CALLER) {
    return cudasim_shared_offset(p, file, line);
}
CUDASIM_DEVICE void *__cvta_shared_to_generic(size_t offset, CUDASIM_CALLER) {
    return cudasim_shared_pointer(offset, file, line);
}
CUDASIM_DEVICE size_t __cvta_generic_to_global(const void *p) {
    return (size_t)p;
}
CUDASIM_DEVICE void *__cvta_global_to_generic(size_t p) {
    return (void *)p;
}

CUDASIM_DEVICE size_t __cvta_generic_to_local(const void *p) {
    return (size_t)p;
}
CUDASIM_DEVICE void *__cvta_local_to_generic(size_t p) {
    return (void *)p;
}
CUDASIM_DEVICE size_t __cvta_generic_to_constant(const void *p) {
    return (size_t)p;
}
CUDASIM_DEVICE void *__cvta_constant_to_generic(size_t p) {
    return (void *)p;
}

/* In which memory an address lies. */
CUDASIM_DEVICE unsigned __isGlobal(const void *p, CUDASIM_CALLER) {
    return cudasim_space(p, file, line) == CUDASIM_GLOBAL;
}
CUDASIM_DEVICE unsigned __isShared(const void *p, CUDASIM_CALLER) {
    return cudasim_space(p, file, line) == CUDASIM_SHARED;
}
CUDASIM_DEVICE unsigned __isConstant(const void *p, CUDASIM_CALLER) {
    return cudasim_space(p, file, line) == CUDASIM_CONSTANT;
}
CUDASIM_DEVICE unsigned __isLocal(const void *p, CUDASIM_CALLER) {
    return cudasim_space(p, file, line) == CUDASIM_LOCAL;
}

/* One access, however a compiler would split a vector. */
template <class Type>
CUDASIM_DEVICE Type cudasim_ptx_load(const char *p, const char *file, int line) {
    Type value;
    cudasim_before_load(p, sizeof value, file, line);
    if constexpr (std::is_arithmetic<Type>::value) {
        value = *(const volatile Type *)p; /* here, not in the line that uses it */
    } else {
        __builtin_memcpy(&value, p, sizeof value);
    }
    return value;
}

template <int least, int bytes>
CUDASIM_DEVICE void cudasim_ptx_copy(unsigned long long to, const void *from, size_t read,
                                     const char *file, int line) {
    static_assert(bytes >= least && (bytes == 4 || bytes == 8 || bytes == 16),
                  "cudasim: cp.async.ca copies 4, 8 or 16 bytes, cp.async.cg 16");
    cudasim_copy_async(cudasim_shared_pointer(to, file, line), from, bytes, bytes - read, file,
                       line);
}
/** @endcond */

#endif
