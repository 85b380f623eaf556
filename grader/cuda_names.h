/**
 * @file cuda_names.h
 * @brief Which of CUDA's names the simulator's headers make which function of the simulator.
 * @ingroup grader
 *
 * The table is written when the kit is built, by cuda_names.awk.
 */
#ifndef GRADER_CUDA_NAMES_H
#define GRADER_CUDA_NAMES_H

/** A name as a program writes it. */
typedef struct CudaName {
    const char *symbol; /**< "cudasim_begin_capture" */
    const char *source; /**< "cudaStreamBeginCapture"; one of several, perhaps */
} CudaName;

extern const CudaName cuda_names[]; /**< ends with NULL */

#endif
