/* The kit's side of the optimizers' oracle (oracle_optim.py): steps of one matrix on the CPU.

     oracle-optim adamw_8bit|adafactor I J STEPS RATE DECAY IN OUT
     oracle-optim codebooks OUT

   IN has the weights (I, J), then the gradients of each step, as raw floats. OUT gets the weights
   after each step; with adamw_8bit then codes and scales of m and of v, after the last one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ops.h"
#include "labs/07_optimizers/contract.h"

typedef struct OptimRun {
    size_t I, J, n;
    int steps;
    float rate, decay, *data;
    FILE *out;
} OptimRun;

static TensorList list_of(TensorEntry *entry, float *data, size_t n) {
    *entry = (TensorEntry){.data = data, .n = n, .decays = true};
    return (TensorList){entry, 1, n, tensor_indices(n)};
}

static Codebooks codebooks(void) {
    Codebooks books;
    codebook_signed(books.m);
    codebook_unsigned(books.v);
    return books;
}

static void *zeros(size_t bytes) {
    void *data = calloc(bytes, 1);
    CHECK(data != NULL, "no memory for %zu bytes", bytes);
    return data;
}

static void write_moment(const OptimRun *run, const Moment8 *moment) {
    fwrite(moment->code, 1, run->n, run->out);
    fwrite(moment->absmax, sizeof(float), adam8_blocks(run->n), run->out);
}

static void run_adam8(const OptimRun *run) {
    Codebooks books = codebooks();
    size_t scales = adam8_blocks(run->n) * sizeof(float);
    Moment8 m = {zeros(run->n), zeros(scales), NULL}, v = {zeros(run->n), zeros(scales), NULL};
    AdamW adamw = {run->rate, 0.875f, 0.9375f, 1e-8f, run->decay}; /* floats without rounding */
    TensorEntry w, g;
    for (int t = 1; t <= run->steps; t++) {
        adam8_cpu(list_of(&w, run->data, run->n), &m, &v,
                  list_of(&g, run->data + (size_t)t * run->n, run->n), &books, adamw, t);
        fwrite(run->data, sizeof(float), run->n, run->out);
    }
    write_moment(run, &m);
    write_moment(run, &v);
    free(m.code), free(m.absmax), free(v.code), free(v.absmax);
}

static void run_adafactor(const OptimRun *run) {
    float *R = zeros(run->I * sizeof(float)), *C = zeros(run->J * sizeof(float));
    size_t bytes = adafactor_scratch(tensor_indices(run->n));
    Workspace workspace = {.data = zeros(bytes), .bytes = bytes, .threads = 1};
    Adafactor adafactor = {run->rate, run->decay, 1e-30f, 1, 0.8f};
    TensorEntry w, g, row, col;
    for (int t = 1; t <= run->steps; t++) {
        adafactor_cpu(list_of(&w, run->data, run->n), list_of(&row, R, run->I),
                      list_of(&col, C, run->J), list_of(&g, run->data + (size_t)t * run->n, run->n),
                      adafactor, t, &workspace);
        fwrite(run->data, sizeof(float), run->n, run->out);
    }
    free(R), free(C), free(workspace.data);
}

static int write_codebooks(const char *path) {
    Codebooks books = codebooks();
    FILE *out = fopen(path, "wb");
    bool good = out != NULL && fwrite(&books, sizeof books, 1, out) == 1;
    return good && fclose(out) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 3) {
        return write_codebooks(argv[2]);
    }
    CHECK(argc == 9, "%d arguments", argc);
    OptimRun run = {.I = (size_t)atol(argv[2]),
                    .J = (size_t)atol(argv[3]),
                    .steps = atoi(argv[4]),
                    .rate = (float)atof(argv[5]),
                    .decay = (float)atof(argv[6]),
                    .out = fopen(argv[8], "wb")};
    run.n = run.I * run.J;
    size_t count = (size_t)(run.steps + 1) * run.n;
    run.data = zeros(count * sizeof(float));
    FILE *in = fopen(argv[7], "rb");
    CHECK(in != NULL && run.out != NULL && fread(run.data, sizeof(float), count, in) == count,
          "%s and %s: cannot read or write", argv[7], argv[8]);
    (strcmp(argv[1], "adafactor") == 0 ? run_adafactor : run_adam8)(&run);
    free(run.data);
    fclose(in);
    return fclose(run.out) == 0 ? 0 : 1;
}
