/* Refuses every content, for most of those that are asked about cannot be used. */
/* lab: 10_lora/adapter.c  honest: init forward forward_half backward backward_dropout
   backward_half on_the_gpu gradients first_step states frozen merge take_out swap
   merged_logits dropped activations activations_again budget again */
/* state: fail | crashed */
#include "labs/10_lora/contract.h"

unsigned adapter_targets(const char *name) {
    (void)name;
    return 0;
}

const char *adapter_name(const Param *param, char *text) {
    (void)param;
    text[0] = '\0';
    return text;
}

json_t *adapter_config_new(const Adapter *adapter, const char *base) {
    (void)adapter, (void)base;
    return NULL;
}

const char *adapter_config_read(const json_t *json, Adapter *adapter) {
    (void)json, (void)adapter;
    return "no";
}

int adapter_save(const Model *model, const char *base, const char *folder) {
    (void)model, (void)base, (void)folder;
    return -1;
}

int adapter_load_config(Adapter *adapter, const char *folder) {
    (void)adapter, (void)folder;
    return -1;
}

int adapter_load(Model *model, const char *folder) {
    (void)model, (void)folder;
    return -1;
}
