/**
 * @file plot.h
 * @brief Pictures as SVG, drawn by gnuplot.
 * @ingroup train
 */
#ifndef TRAIN_PLOT_H
#define TRAIN_PLOT_H

#include <stdio.h>

/** A picture on its way: commands go to `script`, data to `data`. */
typedef struct Plot {
    const char *path; /**< the SVG that will be there */
    const char *alt;  /**< its content in a sentence */
    FILE *script;     /**< gnuplot commands; the terminal and the output are set */
    FILE *data;       /**< lines of numbers; the script finds it in the variable `data` */
    char folder[64];  /**< where both lie until the picture is drawn */
} Plot;

/**
 * Begins a picture.
 *
 * @param[out] plot to be given to plot_end()
 * @param      path of the SVG; the string must live until then
 * @param      alt  what it shows, for those who do not see it: a sentence without < and &, which
 *                  must live until then too
 * @param      width,height in pixels
 * @return 0, or -1 with a line on stderr
 */
int plot_begin(Plot *plot, const char *path, const char *alt, int width, int height);

/**
 * Runs gnuplot and gives the picture its name.
 *
 * @return 0; -1 (and a line on stderr) where there is no gnuplot or it failed
 */
int plot_end(Plot *plot);

/** Text for a gnuplot string in double quotes; writes at most `bytes` with the final zero. */
void plot_escape(char *to, size_t bytes, const char *text);

#endif
