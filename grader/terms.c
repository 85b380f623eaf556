/* Constants that differ between terms. The contract is in terms.h. */
#include "grader/terms.h"

#include <stdio.h>

const char *term_mistake(const Term *term, int other, char text[TERM_TEXT]) {
    snprintf(text, TERM_TEXT, "the task of another term (%s); this term's page says: %s",
             term->says[other], term->says[term->now]);
    return text;
}

void term_vote(Suspicion *suspicion, const Term *term, bool wrong, const bool *fits) {
    for (int i = 0; i < term->count; i++) {
        char text[TERM_TEXT];
        if (i != term->now) {
            suspicion_vote(suspicion, term_mistake(term, i, text), 0, "", wrong, fits[i]);
        }
    }
}
