#include "common/safetensors.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/scratch.h"

/* A file from its header; returns its size. */
static size_t make(unsigned char *bytes, const char *header, size_t data_bytes) {
    size_t length = strlen(header);
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)((uint64_t)length >> 8 * i);
    }
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < data_bytes; i++) {
        bytes[8 + length + i] = (unsigned char)i;
    }
    return 8 + length + data_bytes;
}

static const char *const good =
    "{\"__metadata__\":{\"format\":\"pt\"},"
    "\"b\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[8,20]},"
    "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
    "\"empty\":{\"dtype\":\"I64\",\"shape\":[0,7],\"data_offsets\":[20,20]},"
    "\"number\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[20,21]}}  ";

Test(safetensors, reads_what_is_there) {
    unsigned char bytes[1024];
    size_t size = make(bytes, good, 21);
    SafeFile *file = safetensors_parse(bytes, size, "test");
    cr_assert_not_null(file);
    cr_assert_eq(safetensors_count(file), 4);
    const SafeTensor *b = safetensors_find(file, "b");
    cr_assert(b->rank == 2 && b->shape[0] == 2 && b->shape[1] == 3 && b->bytes == 12);
    cr_assert_eq(b->data[0], 8);
    cr_assert_str_eq(safetensors_at(file, 0)->name, "a");
    cr_assert_eq(safetensors_find(file, "number")->rank, 0);
    cr_assert_null(safetensors_find(file, "c"));
    cr_assert_str_eq(safetensors_metadata(file, "format"), "pt");
    cr_assert_null(safetensors_metadata(file, "other"));
    safetensors_close(file);
}

/* The copy has exactly the file's size, so that a sanitizer sees a read past it. */
static SafeFile *parse_copy(const unsigned char *bytes, size_t size) {
    unsigned char *copy = malloc(size > 0 ? size : 1);
    memcpy(copy, bytes, size);
    SafeFile *file = safetensors_parse(copy, size, "test");
    if (file != NULL) {
        for (size_t i = 0; i < safetensors_count(file); i++) {
            const SafeTensor *tensor = safetensors_at(file, i);
            cr_assert(tensor->data >= copy && tensor->data + tensor->bytes <= copy + size);
        }
        safetensors_close(file);
        file = (SafeFile *)1; /* it parsed */
    }
    free(copy);
    return file;
}

Test(safetensors, cut_off_anywhere_is_refused, .init = cr_redirect_stderr) {
    unsigned char bytes[1024];
    size_t size = make(bytes, good, 21);
    for (size_t cut = 0; cut < size; cut++) {
        cr_assert_null(parse_copy(bytes, cut), "%zu of %zu bytes", cut, size);
    }
    cr_assert_not_null(parse_copy(bytes, size));
}

/* Any single byte of the header changed: refused, or read without leaving the file. */
Test(safetensors, a_changed_byte_does_no_harm, .init = cr_redirect_stderr) {
    unsigned char bytes[1024];
    size_t size = make(bytes, good, 21);
    for (size_t at = 0; at < size - 21; at++) {
        for (int change = 1; change < 256; change <<= 1) {
            bytes[at] ^= (unsigned char)change;
            parse_copy(bytes, size);
            bytes[at] ^= (unsigned char)change;
        }
    }
}

typedef struct BadHeader {
    const char *header, *want;
    size_t data;
} BadHeader;

#define T(name, dtype, shape, offsets)                                                             \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static const BadHeader bad[] = {
    {"[]", "not a JSON object", 0},
    {"{\"a\":1}", "dtype, shape or data_offsets are missing", 0},
    {"{\"a\":{\"dtype\":\"F32\"}}", "dtype, shape or data_offsets are missing", 0},
    {"{" T("a", "F31", "[1]", "[0,4]") "}", "unknown dtype", 4},
    {"{" T("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", "more than 8 dimensions", 4},
    {"{" T("a", "F32", "[1]", "[0]") "}", "not two numbers in order", 4},
    {"{" T("a", "F32", "[1]", "[4,0]") "}", "not two numbers in order", 4},
    {"{" T("a", "F32", "[1]", "[-4,0]") "}", "not two numbers in order", 4},
    {"{" T("a", "F32", "[1]", "[0,4.0]") "}", "not two numbers in order", 4},
    {"{" T("a", "F32", "[1]", "[0,8]") "}", "would end past the end of the file", 4},
    {"{" T("a", "F32", "[1099511627776]", "[0,4398046511104]") "}",
     "would end past the end of the file", 4},
    {"{" T("a", "F32", "[4611686018427387905]", "[0,4]") "}", "the shape is invalid", 4},
    {"{" T("a", "F32", "[4294967296,4294967296,4]", "[0,0]") "}", "the shape is invalid", 0},
    {"{" T("a", "F32", "[-1]", "[0,4]") "}", "the shape is invalid", 4},
    {"{" T("a", "F32", "[2]", "[0,4]") "}", "differ in size", 4},
    {"{" T("a", "F32", "[1]", "[4,8]") "}", "gap or overlap", 8},
    {"{" T("a", "F32", "[1]", "[0,4]") "," T("b", "F32", "[1]", "[0,4]") "}", "gap or overlap", 4},
    {"{" T("a", "F32", "[1]", "[0,4]") "," T("a", "F32", "[1]", "[0,4]") "}", "not a JSON object",
     4},
    {"{" T("a", "F32", "[1]", "[0,4]") "}", "data after the last tensor", 5},
    {"{" T("a\\u0007\\nb", "F31", "[1]", "[0,4]") "}", "tensor \"a??b\": unknown dtype", 4},
};

Test(safetensors, refuses_with_a_reason, .init = cr_redirect_stderr) {
    unsigned char bytes[1024];
    char line[512];
    FILE *messages = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t size = make(bytes, bad[i].header, bad[i].data);
        cr_assert_null(parse_copy(bytes, size), "%s", bad[i].header);
        fflush(stderr);
        messages = messages != NULL ? messages : cr_get_redirected_stderr();
        cr_assert_not_null(fgets(line, sizeof line, messages));
        cr_assert_not_null(strstr(line, bad[i].want), "%s: %s", bad[i].header, line);
    }
}

Test(safetensors, a_header_that_claims_terabytes, .init = cr_redirect_stderr) {
    unsigned char bytes[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, '{', '}'};
    char line[128] = "";
    FILE *messages = cr_get_redirected_stderr();
    for (int i = 0; i < 2; i++) {
        cr_assert_null(parse_copy(bytes, sizeof bytes));
        fflush(stderr);
        cr_assert_not_null(fgets(line, sizeof line, messages));
        cr_assert_not_null(strstr(line, "cut off in its header"), "%s", line);
        memset(bytes, 0xff, 8);
    }
}

Test(safetensors, writes_what_it_reads) {
    static const char *const metadata[] = {"t", "7", NULL};
    const SafeTensor tensors[] = {
        {.name = "x", .dtype = "F32", .rank = 2, .shape = {2, 3}, .bytes = 24},
        {.name = "y", .dtype = "F32", .rank = 1, .shape = {1}, .bytes = 4},
    };
    const char *path = scratch_path("written");
    float values[7] = {1, 2, 3, 4, 5, 6, 7};
    FILE *file = fopen(path, "wb");
    cr_assert_eq(safetensors_write_header(file, tensors, 2, metadata), 0);
    fwrite(values, 4, 7, file);
    fclose(file);
    SafeFile *read = safetensors_open(path);
    cr_assert_not_null(read);
    cr_assert_eq(safetensors_count(read), 2);
    cr_assert_arr_eq(safetensors_find(read, "x")->data, values, 24);
    cr_assert_eq((uintptr_t)safetensors_find(read, "x")->data % 8, 0, "data is aligned to 8");
    cr_assert_str_eq(safetensors_metadata(read, "t"), "7");
    safetensors_close(read);
    scratch_remove();
}
