/**
 * @file cuda_fp8.h
 * @brief Numbers of 8 bits are not simulated: a program may include this, and not use them.
 * @ingroup cudasim
 */
#ifndef CUDASIM_FP8_H
#define CUDASIM_FP8_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

/** @cond */
#ifdef __cplusplus
#define CUDASIM_FP8 "numbers of 8 bits; use half or bf16"
typedef unsigned char __nv_fp8_storage_t CUDASIM_NO(CUDASIM_FP8);
typedef unsigned short __nv_fp8x2_storage_t CUDASIM_NO(CUDASIM_FP8);
typedef unsigned __nv_fp8x4_storage_t CUDASIM_NO(CUDASIM_FP8);
typedef unsigned char __nv_fp8_e4m3 CUDASIM_NO(CUDASIM_FP8);
typedef unsigned char __nv_fp8_e5m2 CUDASIM_NO(CUDASIM_FP8);
typedef unsigned short __nv_fp8x2_e4m3 CUDASIM_NO(CUDASIM_FP8);
typedef unsigned short __nv_fp8x2_e5m2 CUDASIM_NO(CUDASIM_FP8);
typedef unsigned __nv_fp8x4_e4m3 CUDASIM_NO(CUDASIM_FP8);
typedef unsigned __nv_fp8x4_e5m2 CUDASIM_NO(CUDASIM_FP8);
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
CUDASIM_NO_FUNCTION(__nv_cvt_float_to_fp8, CUDASIM_FP8)
CUDASIM_NO_FUNCTION(__nv_cvt_float2_to_fp8x2, CUDASIM_FP8)
CUDASIM_NO_FUNCTION(__nv_cvt_double_to_fp8, CUDASIM_FP8)
CUDASIM_NO_FUNCTION(__nv_cvt_halfraw_to_fp8, CUDASIM_FP8)
CUDASIM_NO_FUNCTION(__nv_cvt_halfraw2_to_fp8x2, CUDASIM_FP8)
CUDASIM_NO_FUNCTION(__nv_cvt_bfloat16raw_to_fp8, CUDASIM_FP8)
CUDASIM_NO_FUNCTION(__nv_cvt_fp8_to_halfraw, CUDASIM_FP8)
CUDASIM_NO_FUNCTION(__nv_cvt_fp8x2_to_halfraw2, CUDASIM_FP8)
#endif
/** @endcond */

#endif
