#include "common/files.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/testkit/scratch.h"

static void expect_refused(const char *path, const char *why) {
    char *said = NULL;
    size_t length = 0;
    FILE *stream = stderr;
    stderr = open_memstream(&said, &length);
    cr_assert_null(file_load_json(path));
    fclose(stderr);
    stderr = stream;
    cr_assert_eq(strncmp(said, path, strlen(path)), 0, "%s", said);
    cr_assert_not_null(strstr(said, why), "%s", said);
    cr_assert_eq(strchr(said, '\n'), said + length - 1, "%s", said);
    cr_assert_null(strchr(said, '\033'));
    free(said);
}

Test(files, a_json_object_or_one_line) {
    scratch_folder();
    json_t *json = file_load_json(scratch_file("good", "{\"a\": 1}", 8));
    cr_assert_eq(json_integer_value(json_object_get(json, "a")), 1);
    json_decref(json);
    expect_refused(scratch_path("none"), ": cannot read: No such file");
    expect_refused(scratch_file("empty", "", 0), ": not a JSON object: line ");
    expect_refused(scratch_file("list", "[1]", 3), ": not a JSON object\n");
    expect_refused(scratch_file("twice", "{\"a\": 1,\n\"a\": 2}", 16), ": line 2: ");
    expect_refused(scratch_file("cursor", "{\"a\": \033[2J}", 11), ": not a JSON object: line 1");
    scratch_remove();
}

Test(files, a_pipe_stays_a_pipe) {
    scratch_folder();
    const char *path = scratch_path("pipe");
    cr_assert_eq(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    FILE *file = file_begin(path);
    cr_assert(fputs("all", file) >= 0);
    cr_assert_eq(file_end(file, path, true), 0);
    char text[8];
    struct stat status;
    cr_assert_eq(read(reader, text, sizeof text), 3);
    cr_assert(stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
    close(reader);
    scratch_remove();
}

static char *content(const char *path) {
    static char text[1 << 17];
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static int entries_of(const char *folder) {
    int count = 0;
    DIR *entries = opendir(folder);
    cr_assert_not_null(entries, "%s", folder);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(entries);
    return count;
}

/* Begins a file, writes, and ends it, in a process of its own. @return its exit status */
static int write_elsewhere(const char *path, const char *text) {
    pid_t child = fork();
    if (child == 0) {
        FILE *file = file_begin(path);
        _exit(file == NULL || fputs(text, file) < 0 || file_end(file, path, true) != 0);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

/* The one that ends last stays, whole. */
Test(files, two_writers_of_one_path) {
    scratch_folder();
    char *path = strdup(scratch_path("path"));
    FILE *first = file_begin(path);
    cr_assert_not_null(first);
    cr_assert(fputs("the first one's", first) >= 0);
    cr_assert_eq(write_elsewhere(path, "second"), 0);
    cr_assert_str_eq(content(path), "second");
    cr_assert_eq(file_end(first, path, true), 0);
    cr_assert_str_eq(content(path), "the first one's");
    cr_assert_eq(entries_of(scratch_folder()), 1);
    free(path);
    scratch_remove();
}

Test(files, nothing_is_left_of_a_file_that_is_not_written) {
    scratch_folder();
    char *path = strdup(scratch_file("path", "kept", 4));
    FILE *file = file_begin(path);
    cr_assert(fputs("unwanted", file) >= 0);
    cr_assert_eq(file_end(file, path, false), -1);
    cr_assert_str_eq(content(path), "kept");
    char *folder = strdup(scratch_path("folder"));
    cr_assert_eq(folder_make(folder), 0);
    file = file_begin(folder);
    cr_assert_not_null(file);
    cr_assert_eq(file_end(file, folder, true), -1); /* no file takes a folder's place */
    cr_assert_null(file_begin(scratch_path("none/path")));
    cr_assert_eq(entries_of(scratch_folder()), 2);
    free(folder);
    free(path);
    scratch_remove();
}

Test(files, a_copy_has_all_bytes_and_may_be_run) {
    enum { BYTES = 100000 };
    char *bytes = malloc(BYTES + 1);
    cr_assert_not_null(bytes);
    for (int i = 0; i < BYTES; i++) {
        bytes[i] = (char)('a' + i % 23);
    }
    bytes[BYTES] = '\0';
    scratch_folder();
    char *from = strdup(scratch_file("from", bytes, BYTES)), *to = strdup(scratch_path("to"));
    struct stat status;
    cr_assert_eq(chmod(from, 0700), 0);
    cr_assert_eq(file_copy(from, to), 0);
    cr_assert_str_eq(content(to), bytes);
    cr_assert(stat(to, &status) == 0 && (status.st_mode & 0777) == 0700);
    cr_assert_eq(file_copy(scratch_file("other", "b", 1), to), 0); /* over what was there */
    cr_assert_str_eq(content(to), "b");
    free(from);
    free(to);
    free(bytes);
    scratch_remove();
}

Test(files, a_copy_that_fails_leaves_what_was_there) {
    scratch_folder();
    char *to = strdup(scratch_file("to", "kept", 4));
    cr_assert_eq(file_copy(scratch_path("none"), to), -1);
    cr_assert_eq(errno, ENOENT);
    cr_assert_eq(file_copy(scratch_path(""), to), -1); /* a folder */
    cr_assert_str_eq(content(to), "kept");
    cr_assert_eq(file_copy(to, scratch_path("none/to")), -1);
    free(to);
    scratch_remove();
}
