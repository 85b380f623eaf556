/* libFuzzer on the reader of records: whatever the bytes, what it accepts can be shown, and the XML
   that is made of it has no byte that XML does not know. */
#include "grader/record_read.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "grader/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    json_t *record = record_parse((const char *)bytes, size, "fuzz");
    if (record == NULL) {
        return 0;
    }
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    record_print(record, to);
    record_print_junit(record, to);
    fclose(to);
    for (size_t i = 0; i < length; i++) {
        if ((uint8_t)text[i] >= 0x7F ||
            ((uint8_t)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t')) {
            __builtin_trap();
        }
    }
    if (!(json_number_value(json_object_get(record, "score")) <=
          json_number_value(json_object_get(record, "total")))) {
        __builtin_trap();
    }
    free(text);
    json_decref(record);
    return 0;
}
