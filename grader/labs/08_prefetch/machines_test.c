/* The judge's machines are those that the kit declares, and its pipeline is the closed formula. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "grader/labs/08_prefetch/machines.c" /* a part of the judge, which no test links */

Test(prefetch, the_judges_machines_are_those_declared) {
    static const char *const path[MACHINES] = {"machines/t4.json", "machines/a100.json",
                                               "machines/laptop.json"};
    for (int i = 0; i < MACHINES; i++) {
        const Machine *own = machines_declared[i];
        Machine declared;
        cr_assert(machine_load(&declared, path[i]));
        cr_assert_str_eq(own->name, declared.name);
        const double pairs[][2] = {{own->memory, declared.memory},
                                   {own->f32, declared.f32},
                                   {own->tf32, declared.tf32},
                                   {own->f16, declared.f16},
                                   {own->bf16, declared.bf16},
                                   {own->to_device, declared.to_device},
                                   {own->from_device, declared.from_device},
                                   {own->launch, declared.launch},
                                   {own->floor, declared.floor}};
        for (size_t j = 0; j < sizeof pairs / sizeof *pairs; j++) {
            cr_assert_lt(fabs(pairs[j][0] - pairs[j][1]), 1e-9 * fabs(pairs[j][1]) + 1e-15,
                         "%s, number %zu", own->name, j);
        }
        cr_assert_eq(own->kernels, declared.kernels);
        cr_assert_eq(own->copy_engines, declared.copy_engines);
    }
}

Test(prefetch, a_pipeline_takes_the_larger_stage) {
    cr_assert_float_eq(machines_pipeline(1, 2, 3, 5), 8, 1e-9);
    cr_assert_float_eq(machines_pipeline(12, 1, 3, 5), 12 * 8, 1e-9);
    cr_assert_float_eq(machines_pipeline(12, 2, 3, 5), 3 + 12 * 5, 1e-9);
    cr_assert_float_eq(machines_pipeline(12, 3, 5, 3), 12 * 5 + 3, 1e-9);
}
