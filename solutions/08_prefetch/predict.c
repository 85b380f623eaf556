/* Lab 08: bytes, seconds, and when a bus is hidden. The contracts are in
   labs/08_prefetch/contract.h. */
#include "common/lab.h"
#include "labs/00_bytes/contract.h"
#include "labs/08_prefetch/contract.h"

/* ---- prefetch -------------------------------------------------------------------------------- */

size_t prefetch_bytes(int slots, int B, int T) {
#ifndef STUB
    return (size_t)slots * 2 * (size_t)B * (size_t)T * sizeof(int32_t);
#else
    (void)slots, (void)B, (void)T;
    TODO("task 5: tokens and targets of all slots (1 line)");
#endif
}

double prefetch_time(int batches, int slots, double copy, double work) {
#ifndef STUB
    double larger = copy > work ? copy : work;
    return slots == 1 ? batches * (copy + work) : copy + (batches - 1) * larger + work;
#else
    (void)batches, (void)slots, (void)copy, (void)work;
    TODO("task 5: with one slot, and with more (about 2 lines)");
#endif
}

/* ---- offload --------------------------------------------------------------------------------- */

size_t offload_bytes(const ModelConfig *config, int B, int T, int segment) {
#ifndef STUB
    size_t N = (size_t)B * (size_t)T, input = offload_input(config, B, T);
    size_t row = (size_t)logits_stride(config->V) * precision_bytes(config->precision);
    size_t head = 2 * input + N * (row + 4 * sizeof(float));
    size_t blocks = (size_t)segment * (input + bytes_block(config, B, T)) + 5 * input;
    return 3 * input + (head > blocks ? head : blocks); /* dx and two places */
#else
    (void)config, (void)B, (void)T, (void)segment;
    TODO("task 5: dx, two places, and the head or a segment (about 6 lines)");
#endif
}

size_t offload_moved(const ModelConfig *config, int B, int T, int segment) {
#ifndef STUB
    return 2 * (size_t)offload_segments(config->L, segment) * offload_input(config, B, T);
#else
    (void)config, (void)B, (void)T, (void)segment;
    TODO("task 5: the input of every segment, out and back (1 line)");
#endif
}

bool offload_hides(const ModelConfig *config, int T, int segment, double bus, double rate) {
#ifndef STUB
    double C = config->C, bytes = C * (double)precision_bytes(config->precision);
    return bytes / bus <= segment * (24 * C * C + 4 * C * T) / rate;
#else
    (void)config, (void)T, (void)segment, (void)bus, (void)rate;
    TODO("task 5: of a token, the seconds on the bus and in the products (about 2 lines)");
#endif
}
