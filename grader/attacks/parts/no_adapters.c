/* Of a hand-in for lab 10: adapters are neither begun nor merged. */
void lora_init(Model *model, uint64_t seed) {
    (void)model, (void)seed;
}

void lora_merge(Model *model, float sign) {
    (void)model, (void)sign;
}
