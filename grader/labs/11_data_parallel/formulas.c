/* Predictions. The contract is in formulas.h. */
#include "grader/labs/11_data_parallel/formulas.h"

#include <math.h>

#include "grader/labs/11_data_parallel/protocol.h"

static double part_numbers(const ModelConfig *c, int part) {
    double C = c->C;
    return part == 0 ? 2 * C : part <= c->L ? 12 * C * C + 13 * C : (c->V + c->T) * C;
}

double right_sent(const Shape *shape) {
    double numbers = 0, R = shape->B;
    for (int part = 0; part <= shape->config.L + 1; part++) {
        numbers += part_numbers(&shape->config, part);
    }
    return 2 * (R - 1) / R * 4 * numbers;
}

int right_buckets(const Shape *shape) {
    double bytes = 0;
    int count = 0;
    for (int part = 0; part <= shape->config.L + 1; part++) {
        bytes += 4 * part_numbers(&shape->config, part);
        if (bytes >= (double)shape_bucket(shape) || part == shape->config.L + 1) {
            count++;
            bytes = 0;
        }
    }
    return count;
}

/* The first shapes are in float, and have more than two ranks: those with halves come when they are
   right. */
const char *sent_mistake(const Shape *shape, double got, double right) {
    double R = shape->B, whole = right * R / (R - 1), off = 1e-6 * right;
    if (shape->config.precision != F32 && fabs(2 * got - right) < off) {
        return "gradients are floats in every precision";
    }
    return fabs(got - right) < off ? "rounded, as a float or a whole number is: compute in double"
           : fabs(2 * got - right) < off ? "sums go round, and then they are handed on: twice"
           : fabs(got - whole) < off     ? "what a rank keeps is not sent: 2 (R - 1) / R, and not 2"
           : fabs(got - R * right) < off ? "what each rank sends is asked for, not all together"
                                         : "2 (R - 1) / R of 4 bytes for each parameter";
}

double right_time(int buckets, const double *complete, const double *reduce) {
    double end = 0;
    for (int i = 0; i < buckets; i++) {
        end = fmax(end, complete[i]) + reduce[i];
    }
    return end;
}
