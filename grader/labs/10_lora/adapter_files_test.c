/* The two files of an adapter, by the solution of lab 10: what is saved comes back, and what is
   not right is refused with one line. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/testkit/scratch.h"
#include "labs/10_lora/contract.h"

static const char *const config_file = "adapter_config.json", *const weights_file =
                                                                  "adapter_model.safetensors";

/* A small model on the CPU, whose adapters have a rank that is given. */
typedef struct AdaptedModel {
    Device *device;
    Memory *memory;
    Model *model;
} AdaptedModel;

static AdaptedModel adapted_open(int rank, unsigned targets) {
    ModelConfig config = {.V = 256, .T = 8, .L = 2, .NH = 2, .C = 8};
    config.adapter = (Adapter){.rank = rank, .targets = targets, .alpha = 7, .dropout = 0.25f};
    AdaptedModel own = {.device = device_cpu_new(8 << 20)};
    cr_assert_not_null(own.device);
    own.memory = memory_new(own.device, (MemoryOptions){0});
    own.model = model_new(&config, own.memory, 3);
    return own;
}

static void adapted_close(AdaptedModel *own) {
    model_free(own->model);
    memory_free(own->memory);
    device_free(own->device);
}

enum { TARGETS = 1u << LINEAR_QKV | 1u << LINEAR_FCPROJ };

/* Every number is another one. */
static void number_all(Model *model) {
    float next = 1;
    for (int i = 0; i < model->param_count; i++) {
        float values[400];
        cr_assert(model->params[i].count <= 400);
        for (size_t j = 0; j < model->params[i].count; j++) {
            values[j] = next++ / 256;
        }
        model_upload_weight(model, &model->params[i], values);
    }
}

static void expect_adapters_equal(const Model *got, const Model *right) {
    cr_assert_eq(got->param_count, right->param_count);
    for (int i = 0; i < got->param_count; i++) {
        size_t bytes = right->params[i].count * sizeof(float);
        cr_expect_arr_eq((char *)got->params[i].weight, (char *)right->params[i].weight, bytes,
                         "%s of block %d", right->params[i].name, right->params[i].layer);
    }
}

/* A folder with an adapter of rank 3, just saved. */
static const char *saved_folder(const char *base) {
    AdaptedModel own = adapted_open(3, TARGETS);
    number_all(own.model);
    cr_assert_eq(adapter_save(own.model, base, scratch_folder()), 0);
    adapted_close(&own);
    return scratch_folder();
}

Test(adapter_files, come_back) {
    const char *folder = saved_folder("some/model");
    Adapter adapter = {0};
    cr_assert_eq(adapter_load_config(&adapter, folder), 0);
    cr_expect_eq(adapter.rank, 3);
    cr_expect_eq(adapter.targets, TARGETS);
    cr_expect_eq(adapter.alpha, 7);
    cr_expect_eq(adapter.dropout, 0.25f);
    AdaptedModel right = adapted_open(3, TARGETS), got = adapted_open(3, TARGETS);
    number_all(right.model);
    cr_assert_eq(adapter_load(got.model, folder), 0);
    expect_adapters_equal(got.model, right.model);
    adapted_close(&right);
    adapted_close(&got);
    scratch_remove();
}

/* ---- what is not right ----------------------------------------------------------------------- */

static char said[1000];

/* Calls, and takes the text that goes to stderr meanwhile. */
static int listen(int (*call)(void *context), void *context) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = stderr;
    stderr = open_memstream(&text, &length);
    int result = call(context);
    fclose(stderr);
    stderr = stream;
    snprintf(said, sizeof said, "%s", text);
    free(text);
    return result;
}

static int call_load(void *model) {
    return adapter_load(model, scratch_folder());
}

static int call_load_config(void *adapter) {
    return adapter_load_config(adapter, scratch_folder());
}

static int call_save(void *model) {
    return adapter_save(model, NULL, scratch_path("no such folder"));
}

/* Refused, in one line that names the file and says why. */
static void expect_line(int result, const char *file, const char *why) {
    const char *end = strchr(said, '\n');
    cr_expect_eq(result, -1, "%s: %s", file, why);
    cr_expect_not_null(strstr(said, file), "%s: %s", file, said);
    cr_expect_not_null(strstr(said, why), "wanted %s, got %s", why, said);
    cr_expect(end != NULL && end[1] == '\0', "%s", said);
}

static void expect_weights_refused(int rank, unsigned targets, const char *why) {
    AdaptedModel own = adapted_open(rank, targets);
    expect_line(listen(call_load, own.model), weights_file, why);
    adapted_close(&own);
}

static void expect_config_refused(const char *content, const char *why) {
    Adapter adapter = {.rank = 5}, before = adapter;
    if (content != NULL) {
        scratch_file(config_file, content, strlen(content));
    }
    expect_line(listen(call_load_config, &adapter), config_file, why);
    cr_expect_arr_eq((char *)&adapter, (char *)&before, sizeof adapter);
}

Test(adapter_files, of_another_shape_are_refused) {
    saved_folder(NULL);
    expect_weights_refused(4, TARGETS, "differs in shape");
    expect_weights_refused(3, 1u << LINEAR_QKV, "the model does not have");
    expect_weights_refused(3, TARGETS | 1u << LINEAR_FC, "is missing");
    scratch_remove();
}

Test(adapter_files, that_are_broken_are_refused) {
    saved_folder(NULL);
    const char *path = scratch_path(weights_file);
    cr_assert_eq(truncate(path, 100), 0);
    expect_weights_refused(3, TARGETS, "cut off in its header");
    cr_assert_eq(truncate(path, 5), 0);
    expect_weights_refused(3, TARGETS, weights_file);
    scratch_file(weights_file, "PK\003\004 not what was saved", 22);
    expect_weights_refused(3, TARGETS, weights_file);
    cr_assert_eq(unlink(path), 0);
    expect_weights_refused(3, TARGETS, "No such file");
    scratch_remove();
}

Test(adapter_files, config_is_refused_with_a_reason) {
    saved_folder(NULL);
    expect_config_refused("", "not a JSON object");
    expect_config_refused("[1]", "not a JSON object");
    expect_config_refused("{\"peft_type\": \"IA3\", \"r\": 2, \"target_modules\": [\"c_attn\"]}",
                          "peft_type is not");
    expect_config_refused("{\"peft_type\": \"LORA\", \"target_modules\": [\"c_attn\"]}",
                          "r is not a whole number");
    cr_assert_eq(unlink(scratch_path(config_file)), 0);
    expect_config_refused(NULL, "cannot read");
    scratch_remove();
}

Test(adapter_files, a_folder_that_is_not_there_is_an_error) {
    scratch_folder();
    AdaptedModel own = adapted_open(2, TARGETS);
    expect_line(listen(call_save, own.model), "no such folder", "No such file");
    adapted_close(&own);
    scratch_remove();
}
