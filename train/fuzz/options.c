/* libFuzzer on the option parser: words are separated by line ends. */
#include "train/options.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { WORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static FILE *quiet;
    if (quiet == NULL) {
        quiet = fopen("/dev/null", "w");
    }
    char *text = malloc(size + 1), program[] = "train", *words[WORDS + 1];
    int count = 0;
    if (size > 0) {
        memcpy(text, bytes, size);
    }
    text[size] = '\0';
    words[count++] = program;
    for (char *word = strtok(text, "\n"); word != NULL && count < WORDS;
         word = strtok(NULL, "\n")) {
        words[count++] = word;
    }
    words[count] = NULL;
    TrainOptions options;
    char error[ERROR_BYTES];
    ParseResult result = options_parse(count, words, &options, quiet, quiet);
    /* An accepted shape can exist, unless a folder is to give the shape. */
    if (result == PARSE_RUN && options.model == NULL && options.resume == NULL &&
        config_check(&options.config, error) != 0) {
        __builtin_trap();
    }
    free(text);
    return 0;
}
