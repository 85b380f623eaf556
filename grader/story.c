/* The mistake that lost checks have in common. The contract is in story.h. */
#include "grader/story.h"

#include <stdio.h>
#include <string.h>

#include "grader/record.h"
#include "kernels/base.h"

static const char *text_at(const json_t *row, const char *key) {
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

static bool row_is_lost(const json_t *row) {
    RowState state = row_state_of(text_at(row, "state"));
    return state != ROW_PASS && state != ROW_NOT_RUN;
}

static bool row_suspects(const json_t *row, const char *sentence) {
    size_t i;
    json_t *suspect;
    json_array_foreach(json_object_get(row, "suspects"), i, suspect) {
        if (strcmp(json_string_value(suspect), sentence) == 0) {
            return true;
        }
    }
    return false;
}

/* The names of the lost checks that a mistake explains. */
static json_t *rows_explained(const json_t *rows, const char *sentence) {
    json_t *names = json_array(), *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        if (row_is_lost(row) && row_suspects(row, sentence)) {
            json_array_append(names, json_object_get(row, "name"));
        }
    }
    return names;
}

static size_t rows_lost(const json_t *rows) {
    size_t lost = 0, i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        lost += row_is_lost(row);
    }
    return lost;
}

/* The mistake that explains most of the lost checks, to be given to json_decref(); NULL if none
   explains two, or if two explain as many: then nobody knows which it is. */
static json_t *find_story(const json_t *rows) {
    json_t *best = NULL, *row, *suspect;
    size_t i, k, most = 1;
    bool tied = false;
    json_array_foreach(rows, i, row) {
        json_array_foreach(json_object_get(row, "suspects"), k, suspect) {
            const char *sentence = json_string_value(suspect);
            if (best != NULL && strcmp(text_at(best, "mistake"), sentence) == 0) {
                continue;
            }
            json_t *names = rows_explained(rows, sentence);
            size_t count = json_array_size(names);
            tied = count > most ? false : tied || (count == most && best != NULL);
            if (count > most) {
                most = count;
                json_decref(best);
                best = json_pack("{s:s, s:O}", "mistake", sentence, "checks", names);
                CHECK(best != NULL, "no memory for a story");
            }
            json_decref(names);
        }
    }
    if (tied) {
        json_decref(best);
        return NULL;
    }
    return best;
}

/* Rows of which several mistakes could be true are left with the story's. One that has no other
   says it already, with the tensors of which it is true. */
static void refer_to_story(json_t *rows, const char *mistake) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        bool open = json_array_size(json_object_get(row, "suspects")) > 1;
        if (row_is_lost(row) && open && row_suspects(row, mistake)) {
            char text[1000];
            snprintf(text, sizeof text, "likely: %s", mistake);
            json_object_set_new(row, "mistake", json_string(text));
        }
    }
}

/* The mistake with the tensors of which it is true, where all of its rows name the same ones. */
static void name_tensors(const json_t *rows, json_t *story) {
    const char *mistake = text_at(story, "mistake"), *told = NULL;
    bool alike = true;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        if (row_is_lost(row) && row_suspects(row, mistake)) {
            const char *text = text_at(row, "mistake");
            text += strncmp(text, "likely: ", 8) == 0 ? 8 : 0;
            alike = alike && (told == NULL || strcmp(text, told) == 0);
            told = text;
        }
    }
    if (alike && told != NULL) {
        json_object_set_new(story, "mistake", json_string(told));
    }
}

/* Whether two rows have a mistake in common. */
static bool rows_agree(const json_t *row, const json_t *other) {
    size_t i;
    json_t *suspect;
    json_array_foreach(json_object_get(row, "suspects"), i, suspect) {
        if (row_suspects(other, json_string_value(suspect))) {
            return true;
        }
    }
    return false;
}

/* The lost checks on which a row stands, in its order; to be given to json_decref(). */
static json_t *lost_before(const json_t *rows, const json_t *row) {
    char names[400];
    json_t *lost = json_array();
    snprintf(names, sizeof names, "%s", text_at(row, "after"));
    char *rest = names;
    for (char *name; (name = strsep(&rest, " ")) != NULL;) {
        size_t i;
        json_t *other;
        json_array_foreach(rows, i, other) {
            if (strcmp(text_at(other, "name"), name) == 0 && row_is_lost(other)) {
                json_array_append(lost, other);
            }
        }
    }
    return lost;
}

static bool row_knows(const json_t *row) {
    return json_array_size(json_object_get(row, "suspects")) > 0;
}

/* The lost check that a row's report should name in place of a mistake; NULL: none. A row that
   knows only mistakes that are not those of a check before it has taken what is wrong there for
   right.
   Where a judge has said by itself what is wrong, as that threads race, that stays. */
static const json_t *earlier_than(const json_t *rows, const json_t *row) {
    bool seen = !row_knows(row) && text_at(row, "mistake")[0] != '\0';
    const json_t *earlier = NULL;
    json_t *lost = seen ? json_array() : lost_before(rows, row), *other;
    size_t i;
    json_array_foreach(lost, i, other) {
        if (rows_agree(row, other)) {
            earlier = NULL;
            break;
        }
        bool speaks = row_knows(other) || !row_knows(row);
        earlier = earlier == NULL && speaks ? other : earlier;
    }
    json_decref(lost);
    return earlier;
}

static void refer_to_earlier(json_t *rows) {
    json_t *referred = json_array(), *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        bool fails = row_state_of(text_at(row, "state")) == ROW_FAIL;
        const json_t *earlier = fails ? earlier_than(rows, row) : NULL;
        if (earlier != NULL) {
            char text[200];
            snprintf(text, sizeof text, "see `%s`: this check stands on that one",
                     text_at(earlier, "name"));
            json_array_append_new(referred, json_pack("{s:O, s:s}", "row", row, "mistake", text));
        }
    }
    json_t *one;
    json_array_foreach(referred, i, one) { /* not before all are found: each is asked by others */
        row = json_object_get(one, "row");
        json_object_set(row, "mistake", json_object_get(one, "mistake"));
        json_object_set_new(row, "suspects", json_array());
    }
    json_decref(referred);
}

void story_tell(json_t *record) {
    json_t *rows = json_object_get(record, "checks");
    refer_to_earlier(rows);
    json_t *story = find_story(rows);
    if (story != NULL) {
        json_object_set_new(story, "lost", json_integer((json_int_t)rows_lost(rows)));
        refer_to_story(rows, text_at(story, "mistake"));
        name_tensors(rows, story);
        json_object_set_new(record, "story", story);
    }
}
