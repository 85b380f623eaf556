/**
 * @file cudasim_nccl_types.h
 * @brief Types and constants of NCCL, with NVIDIA's names and values of version 2.22.
 * @ingroup cudasim
 *
 * nccl.h has them from here, and so has cudasim/absent/nccl.h, where there is no NCCL.
 */
#ifndef CUDASIM_NCCL_TYPES_H
#define CUDASIM_NCCL_TYPES_H

#include <limits.h>
#include <stddef.h>

#define NCCL_MAJOR 2   /**< first number of the version of which this has a part */
#define NCCL_MINOR 22  /**< second number */
#define NCCL_PATCH 3   /**< third number */
#define NCCL_SUFFIX "" /**< of a version before its release */
/** A version as one number. */
#define NCCL_VERSION(Major, Minor, Patch)                                                          \
    (((Major) <= 2 && (Minor) <= 8) ? (Major)*1000 + (Minor)*100 + (Patch)                         \
                                    : (Major)*10000 + (Minor)*100 + (Patch))
#define NCCL_VERSION_CODE 22203 /**< this version as one number */

/** A rank's end of a communicator. */
typedef struct ncclComm *ncclComm_t;
#define NCCL_COMM_NULL NULL /**< no communicator */

#define NCCL_UNIQUE_ID_BYTES 128 /**< bytes of a ncclUniqueId */
/** By which the ranks of a communicator find each other: rank 0 makes it, all must have it. */
typedef struct ncclUniqueId {
    char internal[NCCL_UNIQUE_ID_BYTES]; /**< not for the program */
} ncclUniqueId;

/** The outcome of a call. The numbers are NCCL's. */
typedef enum ncclResult_t {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1, /**< a call of CUDA has failed */
    ncclSystemError = 2,        /**< a call of the operating system has failed */
    ncclInternalError = 3,      /**< not the program's fault */
    ncclInvalidArgument = 4,    /**< an argument has an impossible value */
    ncclInvalidUsage = 5,       /**< the call is not possible here or now */
    ncclRemoteError = 6,        /**< another rank has failed */
    ncclInProgress = 7,         /**< not over yet; never here: communicators are blocking */
    ncclNumResults = 8          /**< how many there are */
} ncclResult_t;

/** How numbers of all ranks become one. */
typedef enum ncclRedOp_t {
    ncclSum = 0,
    ncclProd = 1,
    ncclMax = 2,
    ncclMin = 3,
    ncclAvg = 4,              /**< the sum, divided by the number of ranks */
    ncclNumOps = 5,           /**< how many there are */
    ncclMaxRedOp = 0x7fffffff /**< the largest value that an operation of a program may have */
} ncclRedOp_t;

/** Type of the elements. */
typedef enum ncclDataType_t {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9,
    ncclNumTypes = 10 /**< how many there are */
} ncclDataType_t;

#define NCCL_CONFIG_UNDEF_INT INT_MIN /**< a setting that is left to NCCL */
#define NCCL_CONFIG_UNDEF_PTR NULL    /**< a setting that is left to NCCL */
#define NCCL_SPLIT_NOCOLOR -1         /**< the rank has no part in a split */
#define NCCL_API_MAGIC 0xcafebeef     /**< marks a configuration that was initialised */

/** Settings of a communicator. All but `blocking` make no difference here. */
typedef struct ncclConfig_t {
    size_t size;         /**< by NCCL_CONFIG_INITIALIZER */
    unsigned magic;      /**< by NCCL_CONFIG_INITIALIZER */
    unsigned version;    /**< by NCCL_CONFIG_INITIALIZER */
    int blocking;        /**< 1, or not set: 0 is not simulated */
    int cgaClusterSize;  /**< see NCCL */
    int minCTAs;         /**< see NCCL */
    int maxCTAs;         /**< see NCCL */
    const char *netName; /**< see NCCL */
    int splitShare;      /**< see NCCL */
} ncclConfig_t;

/** The settings of a communicator for which nothing was chosen. */
#define NCCL_CONFIG_INITIALIZER                                                                    \
    {                                                                                              \
        sizeof(ncclConfig_t), NCCL_API_MAGIC, NCCL_VERSION_CODE, NCCL_CONFIG_UNDEF_INT,            \
            NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT,                   \
            NCCL_CONFIG_UNDEF_PTR, NCCL_CONFIG_UNDEF_INT                                           \
    }

#endif
