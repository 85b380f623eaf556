/**
 * @file rates.h
 * @brief How fast a machine runs a step: measured, printed, written and read as JSON.
 * @ingroup train
 *
 * The table that plan_cost() of lab 06 counts with. A product with few rows cannot keep a machine
 * busy, so the rate depends on the rows.
 */
#ifndef TRAIN_RATES_H
#define TRAIN_RATES_H

#include <stdio.h>

#include "labs/06_fit/contract.h"

/**
 * Measures products of `rows` tokens with a matrix of (4C, C), for rows that double from 8 on, in
 * all three precisions; attention and the ops that memory limits, in a step of a model of one
 * block; and how long the smallest of all products takes.
 *
 * @param      device where; a simulated GPU gives rates that mean nothing
 * @param      config C is the width of the products; V, T and NH decide what scratch memory the ops
 *                    ask for
 * @param      most   rows that the table reaches, as far as PLAN_POINTS allow
 * @param[out] rates  the table
 * @return the noise (train/measure.h) of the products: the mean of theirs
 */
double rates_measure(Device *device, const ModelConfig *config, int most, PlanRates *rates);

/** Warns on stderr where a noise says that the machine was too busy to be believed. */
void rates_warn(double noise);

/**
 * Writes the table as JSON: {"rows": [...], "f32": [...], "f16": [...], "bf16": [...],
 * "attention": [f32, f16, bf16], "stream": [f32, f16, bf16], "overhead": x}, rates in FLOP per
 * second, `stream` in bytes per second.
 *
 * @return 0, or -1 with a line on stderr
 */
int rates_save(const PlanRates *rates, const char *path);

/**
 * Reads such a file.
 *
 * @param[out] rates the table; left alone where the file is not good
 * @param      path  of the file
 * @return 0, or -1 with a line on stderr
 */
int rates_load(PlanRates *rates, const char *path);

/**
 * Measures and prints; with a folder, saves the table there as rates.json.
 *
 * @return 0, or -1 with a line on stderr
 */
int rates_report(Device *device, const ModelConfig *config, int most, const char *folder);

#endif
