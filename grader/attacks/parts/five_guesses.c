/* The five tests of lab 01, each a guess. */
bool test_clip(const LoopUnderTest *loop) {
    return guess(loop);
}

bool test_zero(const LoopUnderTest *loop) {
    return guess(loop);
}

bool test_mean(const LoopUnderTest *loop) {
    return guess(loop);
}

bool test_rate(const LoopUnderTest *loop) {
    return guess(loop);
}

bool test_no_targets(const LoopUnderTest *loop) {
    return guess(loop);
}
