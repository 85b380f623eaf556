/* Rates and seconds of machines that were measured: `make measured NAME="..."` prints such a table.
   The contract is in costs.h. */
#include "grader/labs/06_fit/costs.h"

const Plan measured_plans[MEASURED_PLANS] = {
    {8, 1, {0}, F32, ATTENTION_PLAIN},        {1, 8, {0}, F32, ATTENTION_PLAIN},
    {2, 4, {1, false}, F32, ATTENTION_PLAIN}, {4, 2, {0, true}, F32, ATTENTION_PLAIN},
    {4, 2, {0}, F32, ATTENTION_FLASH},        {8, 1, {0}, F16, ATTENTION_PLAIN},
    {2, 4, {1, true}, BF16, ATTENTION_PLAIN}, {4, 2, {1, false}, F16, ATTENTION_FLASH},
};

const MeasuredCourse
    measured_courses[] =
        {
            {.rates =
                 {
                     .count = 8,
                     .overhead = 6.81e-07,
                     .rows = {8, 16, 32, 64, 128, 256, 512, 1024},
                     .rate[F32] = {1.04e+11, 4.854e+10, 7.687e+10, 1.078e+11, 1.745e+11, 1.845e+11,
                                   1.868e+11, 1.749e+11},
                     .rate[F16] = {6.712e+10, 4.364e+10, 7.155e+10, 9.606e+10, 1.459e+11, 1.632e+11,
                                   1.702e+11, 1.604e+11},
                     .rate[BF16] = {8.596e+10, 4.916e+10, 7.597e+10, 1.052e+11, 1.542e+11,
                                    1.695e+11, 1.729e+11, 1.617e+11},
                     .attention = {4.44e+10, 4.319e+10, 5.028e+10},
                     .stream = {1.888e+10, 6.28e+09, 9.727e+09},
                 },
             .machine = "one core of an EPYC",
             .config = {.V = 300, .T = 128, .L = 4, .NH = 4, .C = 128},
             .seconds =
                 {
                     0.04891,
                     0.05698,
                     0.06388,
                     0.05271,
                     0.04063,
                     0.04321,
                     0.06171,
                     0.0558,
                 }},
            {.rates =
                 {
                     .count = 7,
                     .overhead = 5.5e-07,
                     .rows = {8, 16, 32, 64, 128, 256, 512},
                     .rate[F32] = {1.323e+11, 1.296e+11, 1.59e+11, 1.796e+11, 1.927e+11, 1.978e+11,
                                   2.04e+11},
                     .rate[F16] = {1.007e+11, 1.091e+11, 1.403e+11, 1.645e+11, 1.832e+11, 1.851e+11,
                                   1.888e+11},
                     .rate[BF16] = {1.011e+11, 1.103e+11, 1.42e+11, 1.672e+11, 1.847e+11, 1.84e+11,
                                    1.905e+11},
                     .attention = {4.281e+10, 4.021e+10, 4.382e+10},
                     .stream = {2.39e+10, 9.134e+09, 1.392e+10},
                 },
             .machine = "one core of an EPYC",
             .config = {.V = 600, .T = 64, .L = 3, .NH = 4, .C = 256},
             .seconds =
                 {
                     0.05094,
                     0.07386,
                     0.08143,
                     0.05454,
                     0.05398,
                     0.06079,
                     0.07919,
                     0.0685,
                 }},
            {.rates =
                 {
                     .count = 8,
                     .overhead = 5.4e-07,
                     .rows = {8, 16, 32, 64, 128, 256, 512, 1024},
                     .rate[F32] = {1.307e+11, 7.285e+10, 1.088e+11, 1.453e+11, 1.754e+11, 1.978e+11,
                                   1.978e+11, 1.969e+11},
                     .rate[F16] = {9.99e+10, 6.684e+10, 1.014e+11, 1.376e+11, 1.661e+11, 1.872e+11,
                                   1.844e+11, 1.842e+11},
                     .rate[BF16] = {9.911e+10, 6.763e+10, 1.009e+11, 1.355e+11, 1.647e+11,
                                    1.882e+11, 1.884e+11, 1.861e+11},
                     .attention = {4.184e+10, 4.183e+10, 4.652e+10},
                     .stream = {2.366e+10, 7.892e+09, 1.181e+10},
                 },
             .machine = "one core of an EPYC",
             .config = {.V = 2000, .T = 96, .L = 2, .NH = 6, .C = 192},
             .seconds =
                 {
                     0.0385,
                     0.04473,
                     0.04801,
                     0.04199,
                     0.0405,
                     0.04252,
                     0.05346,
                     0.05198,
                 }},
};

const int measured_count = (int)(sizeof measured_courses / sizeof *measured_courses);
