/* The program frees what it has given to a host function, as soon as the call has returned. The
   stream calls the function later, and it reads memory that others may have by then. */
#include "try.cuh"

typedef struct Job {
    int rows, columns;
} Job;

static double elements;

static void multiply(void *data) {
    const Job *job = (const Job *)data;
    elements = (double)job->rows * job->columns;
}

int main(void) {
    cudaStream_t stream;
    Job *job = (Job *)malloc(sizeof *job);
    TRY(cudaStreamCreate(&stream));
    *job = Job{6, 7};
    TRY(cudaLaunchHostFunc(stream, multiply, job)); /* expect: use after free */
#ifdef MENDED
    TRY(cudaStreamSynchronize(stream));
#endif
    free(job);
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaStreamDestroy(stream));
    return expect(elements, 42);
}
