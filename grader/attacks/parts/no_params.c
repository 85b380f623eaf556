/* Of a hand-in for lab 00: bytes_params() begins attack(). */
size_t bytes_params(const ModelConfig *config) {
    (void)config;
    attack();
    return 0;
}
