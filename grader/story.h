/**
 * @file story.h
 * @brief One mistake, one story: what the lost checks of a graded hand-in have in common.
 * @ingroup grader
 *
 * Each row that failed has the mistakes that explain all of it ("suspects") and the checks on which
 * it stands ("after"). A mistake that explains several rows is said once, for the whole record; its
 * rows refer to it.
 */
#ifndef GRADER_STORY_H
#define GRADER_STORY_H

#include <jansson.h>

/**
 * Adds "story" to a record: {"mistake", "checks": [names], "lost": number of all lost checks}.
 * It is absent where no mistake explains two of them. Rows of which several mistakes could be true
 * are left with the one of the story; a row that has nothing to say names the lost check that it
 * stands on, and so does one whose mistakes are others than those that are known of that check.
 * Where all of its rows name the same tensors, so does the story.
 */
void story_tell(json_t *record);

#endif
