/* SVG pictures by gnuplot, run as a child process. The contract is in plot.h. */
#include "train/plot.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/files.h"
#include "kernels/base.h"

extern char **environ;

static FILE *create(const Plot *plot, const char *name) {
    char *path = path_join(plot->folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        file_error(path, "cannot write");
    }
    free(path);
    return file;
}

int plot_begin(Plot *plot, const char *path, const char *alt, int width, int height) {
    CHECK(strpbrk(alt, "<&") == NULL, "%s", alt);
    *plot = (Plot){.path = path, .alt = alt};
    const char *temporary = getenv("TMPDIR");
    snprintf(plot->folder, sizeof plot->folder, "%.40s/gradus-XXXXXX",
             temporary != NULL && strlen(temporary) <= 40 ? temporary : "/tmp");
    if (mkdtemp(plot->folder) == NULL) {
        return file_error(plot->folder, "cannot create folder");
    }
    plot->script = create(plot, "script");
    plot->data = create(plot, "data");
    if (plot->script == NULL || plot->data == NULL) {
        plot->script != NULL ? fclose(plot->script) : 0;
        plot->data != NULL ? fclose(plot->data) : 0;
        tree_remove(plot->folder);
        return -1;
    }
    fprintf(plot->script,
            "set terminal svg size %d,%d dynamic font 'sans-serif,13' background '#ffffff'\n"
            "set output '%s/picture'\n"
            "data = '%s/data'\n"
            "set encoding utf8\n",
            width, height, plot->folder, plot->folder);
    return 0;
}

static int run_gnuplot(const Plot *plot) {
    char *script = path_join(plot->folder, "script");
    char name[] = "gnuplot";
    char *arguments[] = {name, script, NULL};
    pid_t child;
    int status = 0, error = posix_spawnp(&child, name, NULL, NULL, arguments, environ);
    if (error == 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    free(script);
    if (error != 0) {
        errno = error;
        return file_error(plot->path, "no picture, because gnuplot cannot be run");
    }
    if (status != 0) {
        fprintf(stderr, "%s: no picture, because gnuplot failed\n", plot->path);
        return -1;
    }
    return 0;
}

/* A line of the picture, with our words in place of gnuplot's, which only names itself. */
static void write_named(FILE *to, const char *line, const char *alt) {
    if (strstr(line, "<title>Gnuplot</title>") != NULL) {
        fprintf(to, "<title>%s</title>\n", alt);
    } else if (strstr(line, "<desc>Produced by GNUPLOT") == NULL) {
        fputs(line, to);
    }
}

/* The picture may have to go to another file system, so it is copied, not renamed. */
static int keep_picture(const Plot *plot) {
    char *drawn = path_join(plot->folder, "picture"), *line = NULL;
    FILE *from = fopen(drawn, "r"), *to = file_begin(plot->path);
    size_t room = 0;
    int result = -1;
    while (from != NULL && to != NULL && getline(&line, &room, from) > 0) {
        write_named(to, line, plot->alt);
    }
    if (from == NULL) {
        file_error(drawn, "cannot read");
    }
    if (to != NULL) {
        result = file_end(to, plot->path, from != NULL);
    }
    if (from != NULL) {
        fclose(from);
    }
    free(line);
    free(drawn);
    return result;
}

int plot_end(Plot *plot) {
    int failed = fclose(plot->script) != 0 ? 1 : 0;
    failed |= fclose(plot->data) != 0 ? 1 : 0;
    int result = failed ? file_error(plot->path, "cannot write its data") : run_gnuplot(plot);
    if (result == 0) {
        result = keep_picture(plot);
    }
    tree_remove(plot->folder);
    return result;
}

void plot_escape(char *to, size_t bytes, const char *text) {
    size_t at = 0;
    for (; *text != '\0' && at + 2 < bytes; text++) {
        if (*text == '"' || *text == '\\' || *text == '_' || *text == '^' || *text == '{' ||
            *text == '}' || *text == '@') {
            if (at + 4 >= bytes) {
                break;
            }
            to[at++] = '\\';
            if (*text != '"' && *text != '\\') {
                to[at++] = '\\';
            }
        }
        to[at++] = *text;
    }
    to[at] = '\0';
}
