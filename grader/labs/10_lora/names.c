#include "grader/labs/10_lora/names.h"

#include <stdio.h>
#include <string.h>

#include "grader/judge_training.h"
#include "grader/labs/10_lora/layer.h"

typedef struct NamedTargets {
    const char *name;
    uint64_t targets;
} NamedTargets;

static const NamedTargets named[] = {
    {"c_attn", TARGET_QKV},
    {"attn.c_attn", TARGET_QKV},
    {"c_proj", TARGET_PROJ | TARGET_FCPROJ},
    {"attn.c_proj", TARGET_PROJ},
    {"mlp.c_proj", TARGET_FCPROJ},
    {"c_fc", TARGET_FC},
    {"mlp.c_fc", TARGET_FC},
    {"proj", 0},
    {"attn", 0},
    {"", 0},
    {"mlp.c_attn", 0},
    {"c_attn.", 0},
    {".c_attn", 0},
    {"c_att", 0},
    {"h.0.attn.c_attn", 0},
    {"transformer.h.0.attn.c_attn", 0},
    {".attn.c_attn", 0},
    {"lm_head", 0},
    {"attn.c_fc", 0},
    {"C_ATTN", 0},
    {"c_attn,c_proj", 0},
    {"n.c_attn", 0},
    {"attn.c_attn2", 0},
    {"mlp.c_proj.weight", 0},
};
enum { NAMED = sizeof named / sizeof *named };

static const char *const module[BLOCK_LINEARS] = {"attn.c_attn", "attn.c_proj", "mlp.c_fc",
                                                  "mlp.c_proj"};

unsigned names_target(const char *name) {
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        if (strcmp(name, module[id]) == 0) {
            return 1u << id;
        }
    }
    return 0;
}

static const char *named_label(size_t i, char *text) {
    snprintf(text, CHECK_LABEL, "layers of \"%s\"", named[i].name);
    return text;
}

/* The modules that end in a name, dot or none, and those that have it anywhere. */
static void compare_loosely(const char *name, uint64_t *ends, uint64_t *inside) {
    *ends = *inside = 0;
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        size_t length = strlen(name), all = strlen(module[id]);
        bool end = length <= all && strcmp(module[id] + all - length, name) == 0;
        *ends |= (uint64_t)end << id;
        *inside |= (uint64_t)(strstr(module[id], name) != NULL) << id;
    }
}

/* The modules whose whole name a name begins with. */
static uint64_t whole_names_within(const char *name) {
    uint64_t targets = 0;
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        targets |= (uint64_t)(strncmp(name, module[id], strlen(module[id])) == 0) << id;
    }
    return targets;
}

void names_judge_targets(Check *check) {
    char names[NAMED][TARGET_BYTES] = {{0}};
    uint64_t want[NAMED], first[NAMED], ends[NAMED], inside[NAMED], begun[NAMED];
    for (int i = 0; i < NAMED; i++) {
        snprintf(names[i], TARGET_BYTES, "%s", named[i].name);
        want[i] = named[i].targets;
        first[i] = want[i] & -want[i];
        compare_loosely(named[i].name, &ends[i], &inside[i]);
        begun[i] = want[i] | whole_names_within(named[i].name);
    }
    ExactSuspect suspects[] = {
        {"a name stands for all modules that end in it: \"c_proj\" is in attn and in mlp", first},
        {"a name is the end of another only after a dot: \"proj\" stands for nothing", ends},
        {"a name is compared as a part of another: it has to be the whole, or the end after a dot",
         inside},
        {"a name that begins with the name of a module is taken for it: nothing may follow",
         begun}};
    check_give(check, "names", WIRE_BYTES, names, sizeof names);
    check_want(check, "targets", WIRE_U64, NAMED);
    if (check_run(check, "files/targets", SECONDS)) {
        check_equal_of(check, "targets", named_label, want, NAMED, suspects, 4);
    }
}
