#include "grader/labs/10_lora/protocol.h"

#include <stdio.h>

size_t protocol_numbers(const Param *params, int count) {
    size_t numbers = 0;
    for (int i = 0; i < count; i++) {
        numbers += params[i].count;
    }
    return numbers;
}

const char *protocol_name(char name[WIRE_NAME], const char *what, int layer, LinearId id,
                          int which) {
    static const char *const module[BLOCK_LINEARS] = {"attn.c_attn", "attn.c_proj", "mlp.c_fc",
                                                      "mlp.c_proj"};
    snprintf(name, WIRE_NAME, "%s%c of h.%d.%s", what, "AB"[which], layer, module[id]);
    return name;
}
