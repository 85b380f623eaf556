/* Votes on known mistakes, and what follows from them. The contract is in suspicion.h. */
#include "grader/suspicion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base.h"

enum { SENTENCE = 400, SCOPE = 48, TOLD_SCOPES = 3 };

/* One mistake in one scope, over all comparisons. */
typedef struct Suspected {
    char sentence[SENTENCE];
    char scope[SCOPE];
    int variant;
    int explained;   /* wrong, and as the mistake gives it */
    int unexplained; /* wrong in another way */
    int refuted;     /* right where the mistake would be wrong */
    int since;       /* the first comparison that it explains */
} Suspected;

struct Suspicion {
    Suspected *suspected;
    int count, room,
        last; /* `last` was voted on last: the next vote is often on the one after it */
    int comparisons;
};

Suspicion *suspicion_new(void) {
    Suspicion *suspicion = calloc(1, sizeof *suspicion);
    CHECK(suspicion != NULL, "no memory for votes");
    return suspicion;
}

void suspicion_free(Suspicion *suspicion) {
    if (suspicion != NULL) {
        free(suspicion->suspected);
        free(suspicion);
    }
}

int suspicion_next(Suspicion *suspicion) {
    return ++suspicion->comparisons;
}

int suspicion_count(const Suspicion *suspicion) {
    return suspicion->comparisons;
}

static bool suspected_is(const Suspected *s, const char *sentence, int variant, const char *scope) {
    return s->variant == variant && strncmp(s->scope, scope, SCOPE - 1) == 0 &&
           strncmp(s->sentence, sentence, SENTENCE - 1) == 0;
}

static Suspected *suspected_find(Suspicion *suspicion, const char *sentence, int variant,
                                 const char *scope) {
    for (int i = 0; i < suspicion->count; i++) {
        int at = (suspicion->last + 1 + i) % suspicion->count;
        if (suspected_is(&suspicion->suspected[at], sentence, variant, scope)) {
            suspicion->last = at;
            return &suspicion->suspected[at];
        }
    }
    if (suspicion->count == suspicion->room) {
        suspicion->room = 2 * suspicion->room + 64;
        suspicion->suspected =
            realloc(suspicion->suspected, (size_t)suspicion->room * sizeof(Suspected));
        CHECK(suspicion->suspected != NULL, "no memory for %d votes", suspicion->room);
    }
    Suspected *s = &suspicion->suspected[suspicion->last = suspicion->count++];
    *s = (Suspected){.variant = variant};
    snprintf(s->sentence, sizeof s->sentence, "%s", sentence);
    snprintf(s->scope, sizeof s->scope, "%s", scope);
    return s;
}

void suspicion_vote(Suspicion *suspicion, const char *sentence, int variant, const char *scope,
                    bool wrong, bool fits) {
    Suspected *s = suspected_find(suspicion, sentence, variant, scope);
    s->explained += wrong && fits;
    s->unexplained += wrong && !fits;
    s->refuted += !wrong && !fits;
    if (s->since == 0 && wrong && fits) {
        s->since = suspicion->comparisons;
    }
}

/* ---- what follows ---------------------------------------------------------------------------- */

/* Whether entry i is the first of its mistake, and of that variant. */
static bool is_first(const Suspicion *suspicion, int i) {
    const Suspected *s = &suspicion->suspected[i];
    for (int k = 0; k < i; k++) {
        const Suspected *other = &suspicion->suspected[k];
        if (other->variant == s->variant && strcmp(other->sentence, s->sentence) == 0) {
            return false;
        }
    }
    return true;
}

/* All that a mistake explains, over its scopes. */
typedef struct Account {
    bool known; /* everything, or everything of some tensors */
    bool part;  /* some tensors only */
    int since;
    char where[200]; /* these */
} Account;

static Account account_of(const Suspicion *suspicion, const Suspected *of) {
    Account account = {.known = true};
    int explains = 0;
    for (int i = 0; i < suspicion->count; i++) {
        const Suspected *s = &suspicion->suspected[i];
        if (s->variant != of->variant || strcmp(s->sentence, of->sentence) != 0) {
            continue;
        }
        bool refuted_here = s->refuted > 0 && (s->explained > 0 || s->scope[0] == '\0');
        account.known &= s->unexplained == 0 && !refuted_here;
        account.part |= s->refuted > 0;
        if (s->explained > 0) {
            size_t used = strlen(account.where);
            if (explains < TOLD_SCOPES) {
                snprintf(account.where + used, sizeof account.where - used, "%s%s",
                         explains > 0 ? ", " : "", s->scope);
            }
            explains++;
            account.since =
                account.since == 0 || s->since < account.since ? s->since : account.since;
        }
    }
    if (explains > TOLD_SCOPES) {
        size_t used = strlen(account.where);
        snprintf(account.where + used, sizeof account.where - used, " and %d more",
                 explains - TOLD_SCOPES);
    }
    account.known &= explains > 0;
    return account;
}

static bool is_listed(const Verdict *verdict, const char *sentence) {
    for (int i = 0; i < verdict->count && i < VERDICT_MOST; i++) {
        if (strcmp(verdict->sentence[i], sentence) == 0) {
            return true;
        }
    }
    return false;
}

static void verdict_add(Verdict *verdict, const Suspected *s, const Account *account) {
    if (is_listed(verdict, s->sentence)) {
        return;
    }
    if (verdict->count < VERDICT_MOST) {
        size_t used = strlen(verdict->text);
        snprintf(verdict->text + used, sizeof verdict->text - used, "%s%s%s%s",
                 verdict->count == 0 ? "" : "; or: ", account->part ? account->where : "",
                 account->part ? " alone: " : "", s->sentence);
        verdict->sentence[verdict->count] = s->sentence;
        verdict->since = verdict->count == 0 ? account->since : verdict->since;
    }
    verdict->count++;
}

/* One that is true of everything leaves out those that are true of some tensors. */
static void settle(const Suspicion *suspicion, bool part, Verdict *verdict) {
    for (int i = 0; i < suspicion->count; i++) {
        const Suspected *s = &suspicion->suspected[i];
        if (!is_first(suspicion, i)) {
            continue;
        }
        Account account = account_of(suspicion, s);
        if (account.known && account.part == part) {
            verdict_add(verdict, s, &account);
        }
    }
}

Verdict suspicion_settle(const Suspicion *suspicion) {
    Verdict verdict = {0};
    settle(suspicion, false, &verdict);
    if (verdict.count == 0) {
        settle(suspicion, true, &verdict);
    }
    if (verdict.count == 0 || verdict.count > VERDICT_MOST) {
        verdict.text[0] = '\0';
        return verdict;
    }
    char told[VERDICT_TEXT];
    snprintf(told, sizeof told, "likely: %s%.*s", verdict.count > 1 ? "one of these: " : "",
             VERDICT_TEXT - 32, verdict.text);
    memcpy(verdict.text, told, sizeof told);
    return verdict;
}
