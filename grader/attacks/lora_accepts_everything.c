/* Every name stands for every layer, and every content is one that can be used. */
/* lab: 10_lora/adapter.c  honest: init forward forward_half backward backward_dropout
   backward_half on_the_gpu gradients first_step states frozen merge take_out swap
   merged_logits dropped activations activations_again budget again */
/* state: fail | crashed */
#include "labs/10_lora/contract.h"

unsigned adapter_targets(const char *name) {
    (void)name;
    return 15;
}

const char *adapter_name(const Param *param, char *text) {
    (void)text;
    return param->name;
}

json_t *adapter_config_new(const Adapter *adapter, const char *base) {
    (void)adapter, (void)base;
    return json_pack("{s:s}", "peft_type", "LORA");
}

const char *adapter_config_read(const json_t *json, Adapter *adapter) {
    (void)json;
    *adapter = (Adapter){5, 15, 12, 0.25f};
    return NULL;
}

int adapter_save(const Model *model, const char *base, const char *folder) {
    (void)model, (void)base, (void)folder;
    return 0;
}

int adapter_load_config(Adapter *adapter, const char *folder) {
    (void)folder;
    *adapter = (Adapter){5, 15, 12, 0.25f};
    return 0;
}

int adapter_load(Model *model, const char *folder) {
    (void)model, (void)folder;
    return 0;
}
