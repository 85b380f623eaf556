/* printf in kernels: numbers of 64 bits, text, thousands of lines, what it returns; the limits
   that belong to it. */
#include <cuda_runtime.h>

#include <string.h>
#include <unistd.h>

#include "check.cuh"

enum { BLOCKS = 2000 };

__global__ void say(long long big, unsigned long long mask) {
    const char *parity = blockIdx.x % 2 == 0 ? "even" : "odd";
    printf("%d %lld %llx %s %.2f %c %llu%%\n", (int)blockIdx.x, big * (int)blockIdx.x, mask, parity,
           0.25 * blockIdx.x, 'a' + (int)(blockIdx.x % 26), (unsigned long long)sizeof big);
}

/* CUDA returns the number of arguments. */
__global__ void say_little(int *arguments) {
    printf("only text\n");
    arguments[0] = printf("5%%\n");
    arguments[1] = printf("%5hd %-5ld|\n", (short)-3, 4L);
    printf("%*d %s %p\n", 3, 7, "text", (void *)arguments);
}

static void check_line(const char *line, int block) {
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%d %lld %llx %s %.2f %c 8%%\n", block,
             (1LL << 40) * block * -1, ~0ull, block % 2 == 0 ? "even" : "odd", 0.25 * block,
             'a' + block % 26);
    if (strcmp(line, wanted) != 0) {
        fprintf(stderr, "block %d: %swanted: %s", block, line, wanted);
        exit(1);
    }
}

/* Each block's line is there once; in the simulator in the order of the blocks. */
static void check_lines(FILE *file) {
    static bool seen[BLOCKS];
    char line[200];
    for (int i = 0; i < BLOCKS; i++) {
        MUST(fgets(line, sizeof line, file) != NULL);
        int block = atoi(line);
        MUST(block >= 0 && block < BLOCKS && !seen[block]);
        seen[block] = true;
        check_line(line, block);
#ifdef CUDASIM
        const char *order = getenv("CUDASIM_SCHED");
        MUST(block == (order != NULL && strcmp(order, "reverse") == 0 ? BLOCKS - 1 - i : i));
#endif
    }
    MUST(fgets(line, sizeof line, file) != NULL && strcmp(line, "only text\n") == 0);
    MUST(fgets(line, sizeof line, file) != NULL && strcmp(line, "5%\n") == 0);
    MUST(fgets(line, sizeof line, file) != NULL && strcmp(line, "   -3 4    |\n") == 0);
    MUST(fgets(line, sizeof line, file) != NULL && strncmp(line, "  7 text 0x", 11) == 0);
    MUST(fgets(line, sizeof line, file) == NULL);
}

int main() {
    size_t bytes;
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 8 << 20));
    OK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    MUST(bytes >= 8 << 20);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    MUST(bytes >= 16 << 20);
    OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    MUST(bytes > 0);

    int *arguments, counts[2];
    OK(cudaMalloc(&arguments, sizeof counts));
    FILE *file = tmpfile();
    MUST(file != NULL);
    fflush(stdout);
    int terminal = dup(STDOUT_FILENO);
    MUST(dup2(fileno(file), STDOUT_FILENO) >= 0);
    say<<<BLOCKS, 1>>>(-(1LL << 40), ~0ull);
    say_little<<<1, 1>>>(arguments);
    OK(cudaMemcpy(counts, arguments, sizeof counts, cudaMemcpyDeviceToHost));
    fflush(stdout);
    MUST(dup2(terminal, STDOUT_FILENO) >= 0);
    rewind(file);
    check_lines(file);
    fclose(file);
    MUST(counts[0] == 0 && counts[1] == 2);
    OK(cudaFree(arguments));
    return 0;
}
