#include "grader/labs/10_lora/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grader/judge_training.h"
#include "grader/labs/10_lora/layer.h"
#include "grader/labs/10_lora/names.h"

/* The entry is there and is `want`, which is given up. A whole number is one in the file too: peft
   makes shapes of it. */
static bool expect_entry(Check *check, const json_t *json, const char *key, json_t *want) {
    const json_t *got = json_object_get(json, key);
    bool same =
        got != NULL &&
        (json_is_real(want)
             ? json_is_number(got) && fabs(json_number_value(got) - json_number_value(want)) < 1e-6
             : json_equal(got, want));
    if (!same) {
        char *have = got != NULL ? json_dumps(got, JSON_ENCODE_ANY) : NULL;
        char *wanted = json_dumps(want, JSON_ENCODE_ANY);
        check_fail(check, "\"%s\" is %.60s, wanted is %.60s", key, have != NULL ? have : "missing",
                   wanted);
        free(have);
        free(wanted);
    }
    json_decref(want);
    return same;
}

/* target_modules has one name for each target, and no other. */
static bool expect_targets(Check *check, const json_t *json, unsigned targets) {
    json_t *names = json_object_get(json, "target_modules"), *entry;
    size_t at;
    unsigned found = 0;
    json_array_foreach(names, at, entry) {
        found |= json_is_string(entry) ? names_target(json_string_value(entry)) : 0;
    }
    if (found != targets || json_array_size(names) != (size_t)__builtin_popcount(targets)) {
        check_fail(check, "target_modules has not one name for each target: \"attn.c_attn\", "
                          "\"attn.c_proj\", \"mlp.c_fc\", \"mlp.c_proj\"");
        return false;
    }
    return true;
}

bool files_expect_content(Check *check, const char *name, const Adapter *adapter,
                          const char *base) {
    const char *got = check_got(check, name, WIRE_BYTES);
    json_t *json = memchr(got, '\0', CONTENT_BYTES) != NULL ? json_loads(got, 0, NULL) : NULL;
    bool good = json_is_object(json);
    if (!good) {
        check_fail(check, "the %s is not a JSON object", name);
    }
    good = good && expect_entry(check, json, "peft_type", json_string("LORA")) &&
           expect_entry(check, json, "task_type", json_string("CAUSAL_LM")) &&
           expect_entry(check, json, "base_model_name_or_path",
                        base != NULL ? json_string(base) : json_null()) &&
           expect_entry(check, json, "r", json_integer(adapter->rank)) &&
           expect_entry(check, json, "lora_alpha", json_real((double)adapter->alpha)) &&
           expect_entry(check, json, "lora_dropout", json_real((double)adapter->dropout)) &&
           expect_entry(check, json, "fan_in_fan_out", json_true()) &&
           expect_entry(check, json, "bias", json_string("none")) &&
           expect_targets(check, json, adapter->targets);
    json_decref(json);
    return good;
}

/* Contents, each with what it has to become: {0} for "cannot be used". */
typedef struct FileContent {
    const char *text;
    const char *why; /* of what is refused */
    Adapter adapter;
} FileContent;

static const FileContent contents[] = {
    {"{\"peft_type\":\"LORA\",\"r\":5,\"lora_alpha\":12,\"lora_dropout\":0.25,\"bias\":\"none\","
     "\"target_modules\":[\"c_attn\",\"mlp.c_fc\"],\"fan_in_fan_out\":true,\"use_dora\":false,"
     "\"use_rslora\":false,\"lora_bias\":false,\"modules_to_save\":null,\"rank_pattern\":{},"
     "\"alpha_pattern\":{},\"layers_to_transform\":null,\"inference_mode\":true,\"revision\":null}",
     NULL,
     {5, TARGET_QKV | TARGET_FC, 12, 0.25f}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"target_modules\":[\"c_proj\"]}",
     NULL,
     {3, TARGET_PROJ | TARGET_FCPROJ, 8, 0}},
    {"{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":2.5,\"target_modules\":[\"attn.c_proj\",\"c_"
     "attn\"],\"modules_to_save\":[],\"layers_to_transform\":[]}",
     NULL,
     {4, TARGET_PROJ | TARGET_QKV, 2.5f, 0}},
    {"{\"peft_type\":\"LORA\",\"r\":1,\"lora_alpha\":0.25,\"lora_dropout\":0.9375,\"target_"
     "modules\":"
     "[\"attn.c_attn\",\"mlp.c_proj\",\"c_attn\",\"c_attn\",\"c_attn\",\"c_attn\",\"c_attn\",\"c_"
     "attn\",\"c_attn\","
     "\"c_attn\",\"c_attn\",\"c_attn\",\"c_attn\",\"c_attn\",\"c_attn\",\"c_attn\",\"attn.c_proj\"]"
     "}",
     NULL,
     {1, TARGET_QKV | TARGET_FCPROJ | TARGET_PROJ, 0.25f, 0.9375f}},
    {"{\"peft_type\":\"LORA\",\"r\":65536,\"target_modules\":[\"c_fc\"]}",
     NULL,
     {65536, TARGET_FC, 8, 0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_alpha\":16777216,\"target_modules\":[\"c_fc\"]}",
     NULL,
     {3, TARGET_FC, 16777216, 0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_alpha\":16777217,\"target_modules\":[\"c_fc\"]}",
     "lora_alpha 16777217, beyond 16777216",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":6,\"target_modules\":[\"c_proj\",\"mlp.c_proj\",\"c_fc\",\"c_"
     "fc\"]}",
     NULL,
     {6, TARGET_PROJ | TARGET_FCPROJ | TARGET_FC, 8, 0}},
    {"{\"peft_type\":\"LORA\",\"r\":8,\"lora_alpha\":8,\"lora_dropout\":0.0,\"bias\":\"none\","
     "\"target_modules\":[\"c_attn\"]}",
     NULL,
     {8, TARGET_QKV, 8, 0}},
    {"{\"peft_type\":7,\"r\":3,\"target_modules\":[\"c_attn\"]}", "a number as peft_type", {0}},
    {"[\"LORA\",3,\"c_attn\"]", "no names, for it is a list", {0}},
    {"null", "no names, for it is null", {0}},
    {"{\"peft_type\":\"IA3\",\"r\":3,\"target_modules\":[\"c_attn\"]}", "another peft_type", {0}},
    {"{\"r\":3,\"target_modules\":[\"c_attn\"]}", "no peft_type", {0}},
    {"{\"peft_type\":\"LORA\",\"target_modules\":[\"c_attn\"]}", "no r", {0}},
    {"{\"peft_type\":\"LORA\",\"r\":0,\"target_modules\":[\"c_attn\"]}", "r 0", {0}},
    {"{\"peft_type\":\"LORA\",\"r\":-3,\"target_modules\":[\"c_attn\"]}", "r -3", {0}},
    {"{\"peft_type\":\"LORA\",\"r\":2.5,\"target_modules\":[\"c_attn\"]}", "r 2.5", {0}},
    {"{\"peft_type\":\"LORA\",\"r\":65537,\"target_modules\":[\"c_attn\"]}", "r 65537", {0}},
    {"{\"peft_type\":\"LORA\",\"r\":4294967299,\"target_modules\":[\"c_attn\"]}",
     "r beyond an int",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":\"3\",\"target_modules\":[\"c_attn\"]}", "r in quotes", {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_alpha\":0,\"target_modules\":[\"c_attn\"]}",
     "lora_alpha 0",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_alpha\":-8,\"target_modules\":[\"c_attn\"]}",
     "a negative lora_alpha",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_dropout\":1,\"target_modules\":[\"c_attn\"]}",
     "lora_dropout 1",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"target_modules\":[\"c_attn\",\"q_proj\"]}",
     "a target that stands for nothing",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"target_modules\":[\"c_attn\",7]}",
     "a target that is a number",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"target_modules\":[]}", "no target", {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"target_modules\":\"c_attn\"}",
     "target_modules that is not a list",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3}", "no target_modules", {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"bias\":\"all\",\"target_modules\":[\"c_attn\"]}",
     "bias \"all\"",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"use_dora\":true,\"target_modules\":[\"c_attn\"]}",
     "use_dora",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"use_rslora\":true,\"target_modules\":[\"c_attn\"]}",
     "use_rslora",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"rank_pattern\":{\"c_attn\":2},\"target_modules\":[\"c_"
     "attn\"]}",
     "a rank_pattern",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"modules_to_save\":[\"wte\"],\"target_modules\":[\"c_attn\"]"
     "}",
     "modules_to_save",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_alpha\":\"16\",\"target_modules\":[\"c_attn\"]}",
     "lora_alpha in quotes",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_dropout\":null,\"target_modules\":[\"c_attn\"]}",
     "lora_dropout null",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_dropout\":-0.1,\"target_modules\":[\"c_attn\"]}",
     "a negative lora_dropout",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"bias\":true,\"target_modules\":[\"c_attn\"]}",
     "bias true",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_bias\":true,\"target_modules\":[\"c_attn\"]}",
     "lora_bias",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"alpha_pattern\":{\"c_attn\":4},\"target_modules\":[\"c_"
     "attn\"]}",
     "an alpha_pattern",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"layers_to_transform\":[0],\"target_modules\":[\"c_attn\"]}",
     "layers_to_transform",
     {0}},
    {"{\"peft_type\":\"XLORA\",\"r\":3,\"target_modules\":[\"c_attn\"]}",
     "peft_type \"XLORA\"",
     {0}},
    {"{\"peft_type\":\"LORAX\",\"r\":3,\"target_modules\":[\"c_attn\"]}",
     "peft_type \"LORAX\"",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"bias\":\"lora_only\",\"target_modules\":[\"c_fc\"]}",
     "bias \"lora_only\"",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_alpha\":null,\"target_modules\":[\"c_attn\"]}",
     "lora_alpha null",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_dropout\":false,\"target_modules\":[\"c_attn\"]}",
     "lora_dropout false",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"bias\":\"none of it\",\"target_modules\":[\"c_fc\"]}",
     "bias \"none of it\"",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"bias\":null,\"target_modules\":[\"c_attn\"]}",
     "bias null",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"target_modules\":[\"c_attn\",\"\"]}",
     "a target that is an empty text",
     {0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_alpha\":0.0005,\"target_modules\":[\"c_fc\"]}",
     NULL,
     {3, TARGET_FC, 0.0005f, 0}},
    {"{\"peft_type\":\"LORA\",\"r\":3,\"lora_dropout\":0.995,\"target_modules\":[\"c_fc\"]}",
     NULL,
     {3, TARGET_FC, 8, 0.995f}},
};
enum { CONTENTS = sizeof contents / sizeof *contents };

/* ---- the two files --------------------------------------------------------------------------- */

enum { GOOD_RANK = 7 };

/* Whether nothing of a call of that function stays on the heap. */
static bool expect_none_on_heap(Check *check, const char *function, uint64_t bytes) {
    if (bytes > 0) {
        check_fail(check,
                   "each %s leaves %llu bytes on the heap: what malloc() or json_dumps() has given "
                   "goes back by free(), and JSON by json_decref()",
                   function, (unsigned long long)bytes);
    }
    return bytes == 0;
}

/* Who has written a path into a buffer that is too short shall see why nothing is found. */
static void tell_folder(Check *check) {
    check_tell(check, "\nthe path of the folder has %zu bytes", strlen(FOLDER_HERE));
}

static void want_load_config(Check *check) {
    static const char good[] =
        "{\"peft_type\":\"LORA\",\"r\":7,\"lora_alpha\":3.5,\"lora_dropout\":"
        "0.25,\"target_modules\":[\"mlp.c_fc\"]}";
    static const char bad[] = "{\"peft_type\":\"LORA\",\"r\":-7,\"target_modules\":[\"mlp.c_fc\"]}";
    check_give(check, "good content", WIRE_BYTES, good, sizeof good);
    check_give(check, "bad content", WIRE_BYTES, bad, sizeof bad);
    check_want(check, "load config", WIRE_U64, (size_t)LOAD_CONFIGS * LOAD_CONFIG_NUMBERS);
    check_want(check, "config numbers", WIRE_I32, 2);
    check_want(check, "config floats", WIRE_F32, 2);
}

static bool expect_load_config(Check *check) {
    static const char *const refused[LOAD_CONFIGS] = {NULL, "a file whose r is -7",
                                                      "a folder without adapter_config.json"};
    const uint64_t *n = check_got(check, "load config", WIRE_U64);
    const int32_t *numbers = check_got(check, "config numbers", WIRE_I32);
    const float *floats = check_got(check, "config floats", WIRE_F32);
    if ((int)n[LOAD_CONFIG_RESULT] != 0 || numbers[0] != GOOD_RANK || numbers[1] != TARGET_FC ||
        floats[0] != 3.5f || floats[1] != 0.25f) {
        check_fail(
            check,
            "adapter_load_config() gives %d, and r %d, targets %d, alpha %g, dropout %g, for "
            "a file with r %d, targets %d, alpha 3.5, dropout 0.25; wanted is 0",
            (int)n[LOAD_CONFIG_RESULT], numbers[0], numbers[1], (double)floats[0],
            (double)floats[1], GOOD_RANK, TARGET_FC);
        tell_folder(check);
        return false;
    }
    if (!expect_none_on_heap(check, "adapter_load_config()", n[LOAD_CONFIG_LEFT])) {
        return false;
    }
    for (int i = 1; i < LOAD_CONFIGS; i++) {
        n += LOAD_CONFIG_NUMBERS;
        if ((int)n[LOAD_CONFIG_RESULT] != -1 || n[LOAD_CONFIG_LINES] != 1 ||
            n[LOAD_CONFIG_WRITTEN] != 0) {
            check_fail(check,
                       "of %s adapter_load_config() gives %d and %s the adapter; lines on stderr: "
                       "%llu. Wanted are -1, an adapter that stays, and one line",
                       refused[i], (int)n[LOAD_CONFIG_RESULT],
                       n[LOAD_CONFIG_WRITTEN] != 0 ? "changes" : "leaves",
                       (unsigned long long)n[LOAD_CONFIG_LINES]);
            return false;
        }
        if (!expect_none_on_heap(check, "adapter_load_config()", n[LOAD_CONFIG_LEFT])) {
            return false;
        }
    }
    return true;
}

void files_want_save(Check *check) {
    check_want(check, "saved content", WIRE_BYTES, CONTENT_BYTES);
    check_want(check, "save", WIRE_U64, SAVE_NUMBERS);
}

bool files_expect_save(Check *check) {
    const uint64_t *n = check_got(check, "save", WIRE_U64);
    const char *wrong = n[SAVE_CONFIG] != 1     ? "does not write adapter_config.json there once"
                        : n[SAVE_WEIGHTS] != 1  ? "does not write adapter_model.safetensors there "
                                                  "once"
                        : n[SAVE_ELSEWHERE] > 0 ? "writes a file beside the two"
                        : !n[SAVE_ALL] ? "does not write all that is in model->params, in its order"
                        : !n[SAVE_NAMED] ? "gives the matrices other names than adapter_name()"
                                         : NULL;
    if (wrong != NULL) {
        check_fail(check, "adapter_save(), into a folder that is there, %s", wrong);
        tell_folder(check);
    } else if ((int)n[SAVE_RESULT] != 0 || (int)n[SAVE_NO_FOLDER] != -1 ||
               (int)n[SAVE_FULL] != -1 || (int)n[SAVE_NO_CONFIG] != -1) {
        check_fail(check,
                   "adapter_save() gives %d where both files are written, %d where the folder is "
                   "not there, %d where there is no room for the matrices, %d where "
                   "adapter_config.json cannot be written; wanted are 0, -1, -1, -1",
                   (int)n[SAVE_RESULT], (int)n[SAVE_NO_FOLDER], (int)n[SAVE_FULL],
                   (int)n[SAVE_NO_CONFIG]);
        wrong = "";
    }
    return wrong == NULL && expect_none_on_heap(check, "adapter_save()", n[SAVE_LEFT]);
}

const float *files_want_load(Check *check, const char *names, size_t bytes, size_t numbers) {
    const float *values = check_normal(check, numbers, 1, F32);
    check_give(check, "matrices", WIRE_BYTES, names, bytes);
    check_give(check, "adapters", WIRE_F32, values, numbers);
    check_want(check, "loaded", WIRE_F32, numbers);
    check_want(check, "load", WIRE_U64, LOAD_NUMBERS);
    return values;
}

bool files_expect_load(Check *check, const float *values, size_t numbers) {
    const uint64_t *n = check_got(check, "load", WIRE_U64);
    if ((int)n[LOAD_RESULT] != 0 || (int)n[LOAD_SHORT] != -1 || (int)n[LOAD_ABSENT] != -1) {
        check_fail(
            check,
            "adapter_load() gives %d for a file with all matrices, %d for one that lacks the "
            "last, %d for a folder that is not there; wanted are 0, -1, -1",
            (int)n[LOAD_RESULT], (int)n[LOAD_SHORT], (int)n[LOAD_ABSENT]);
        tell_folder(check);
        return false;
    }
    if (memcmp(check_got(check, "loaded", WIRE_F32), values, numbers * sizeof *values) != 0) {
        check_fail(check, "adapter_load() gives 0, and the adapters have not the numbers of "
                          "adapter_model.safetensors");
        return false;
    }
    return expect_none_on_heap(check, "adapter_load()", n[LOAD_LEFT]);
}

void files_judge_read(Check *check) {
    char texts[CONTENTS][CONTENT_BYTES] = {{0}};
    for (int i = 0; i < CONTENTS; i++) {
        snprintf(texts[i], CONTENT_BYTES, "%s", contents[i].text);
    }
    check_give(check, "contents", WIRE_BYTES, texts, sizeof texts);
    check_want(check, "numbers", WIRE_U64, CONTENTS * READ_NUMBERS);
    check_want(check, "floats", WIRE_F32, (size_t)2 * CONTENTS);
    want_load_config(check);
    if (!check_run(check, "files/read", SECONDS)) {
        return;
    }
    const uint64_t *numbers = check_got(check, "numbers", WIRE_U64);
    const float *floats = check_got(check, "floats", WIRE_F32);
    for (int i = 0; i < CONTENTS; i++) {
        const Adapter *want = &contents[i].adapter;
        const uint64_t *n = numbers + i * READ_NUMBERS;
        bool good = want->rank > 0;
        if (n[0] != (uint64_t)good) {
            check_fail(check,
                       good ? "%.150s is refused, and is what peft writes"
                            : "%.150s is accepted: it has %s",
                       contents[i].text, contents[i].why);
            return;
        }
        if (!n[READ_KEPT]) {
            check_fail(check,
                       "%.150s: a value in it has other references than before: what "
                       "json_object_get() and json_array_get() give is borrowed, and the content "
                       "is the caller's",
                       contents[i].text);
            return;
        }
        if (n[READ_REASON] != REASON_GOOD) {
            check_fail(check,
                       n[READ_REASON] == REASON_EMPTY
                           ? "%.150s is refused, and the reason is an empty text"
                           : "%.150s is refused, and the reason is another text when the content "
                             "has been freed: it is a constant one",
                       contents[i].text);
            return;
        }
        if (!good && n[READ_WRITTEN] != 0) {
            check_fail(check,
                       "%.150s is refused, and `adapter` is written even so: it is written where "
                       "the result is NULL",
                       contents[i].text);
            return;
        }
        if (n[1] != (uint64_t)want->rank || n[2] != want->targets ||
            !(fabsf(floats[2 * i] - want->alpha) <= 1e-6f * want->alpha) ||
            !(fabsf(floats[2 * i + 1] - want->dropout) <= 1e-6f)) {
            check_fail(check,
                       "%.90s... becomes r %llu, targets %llu, alpha %g, dropout %g; wanted "
                       "%d, %u, %g, %g",
                       contents[i].text, (unsigned long long)n[1], (unsigned long long)n[2],
                       (double)floats[2 * i], (double)floats[2 * i + 1], want->rank, want->targets,
                       (double)want->alpha, (double)want->dropout);
            return;
        }
    }
    if (check_run(check, "files/load config", SECONDS) && expect_load_config(check)) {
        check_good(check);
    }
}
