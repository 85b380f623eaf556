/* libFuzzer on the safetensors reader: whatever the bytes, it stays inside of them. */
#include "common/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    SafeFile *file = safetensors_parse(bytes, size, "fuzz");
    if (file != NULL) {
        unsigned sum = 0;
        for (size_t i = 0; i < safetensors_count(file); i++) {
            const SafeTensor *tensor = safetensors_at(file, i);
            for (size_t j = 0; j < tensor->bytes; j++) {
                sum += tensor->data[j];
            }
            if (safetensors_find(file, tensor->name) != tensor) {
                __builtin_trap();
            }
        }
        safetensors_close(file);
        *(volatile unsigned *)&sum = sum; /* so that the reads are not dropped */
    }
    return 0;
}
