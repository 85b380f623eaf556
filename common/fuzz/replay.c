/* Runs a fuzz target on files: the corpus as a test, with any compiler. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
            perror(argv[i]);
            return 1;
        }
        size_t size = (size_t)ftell(file);
        uint8_t *bytes = malloc(size > 0 ? size : 1);
        rewind(file);
        if (bytes == NULL || fread(bytes, 1, size, file) != size) {
            perror(argv[i]);
            return 1;
        }
        fclose(file);
        LLVMFuzzerTestOneInput(bytes, size);
        free(bytes);
    }
    printf("%s: %d inputs\n", argv[0], argc - 1);
    return 0;
}
