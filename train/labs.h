/**
 * @file labs.h
 * @brief Which labs a run needs, and whether their files are here.
 * @ingroup train
 */
#ifndef TRAIN_LABS_H
#define TRAIN_LABS_H

#include <stdbool.h>

#include "train/options.h"

/**
 * Ends the program by lab_missing() before anything is begun, if one of the files of a lab that the
 * run will need is absent.
 *
 * @param lab two digits
 * @param gpu whether the run needs the lab's .cu files as well
 */
void lab_need(const char *lab, bool gpu);

/** The same, if one of the options is set that the lab's lab.json lists under "train". */
void lab_need_for_options(const char *lab, const TrainOptions *options);

#endif
