#define _GNU_SOURCE
#include <dlfcn.h>

#include "check.h"

/* Sites: lines of source in 32 bits, and which of them were reported. */

enum { PLACES = 4096, REPORTED = 1024 };
static const Site IS_PLACE = 0x80000000u;
static Place places[PLACES];
static Site place_count;

const char *site_origin(void) {
    static const char *base;
    Dl_info image;
    if (base == NULL && dladdr((const void *)(uintptr_t)site_origin, &image) != 0) {
        base = image.dli_fbase;
    }
    return base;
}

Site site_of_code(const void *pc) {
    return (Site)((const char *)pc - site_origin()) & ~IS_PLACE;
}

Site site_of_place(Place place) {
    for (Site i = 0; i < place_count; i++) {
        if (places[i].line == place.line && places[i].file == place.file) {
            return i | IS_PLACE;
        }
    }
    if (place_count < PLACES) {
        places[place_count++] = place;
    }
    return (place_count - 1) | IS_PLACE;
}

void describe_site(Site site, char *text, size_t size) {
    if (site & IS_PLACE) {
        Place place = places[site & ~IS_PLACE];
        snprintf(text, size, "%s:%d", sim_file(place), place.line);
    } else {
        cudasim_describe_code(site_origin() + site, text, size);
    }
}

static struct {
    const char *kind;
    Site site, other;
} reported[REPORTED];
static int reports;

bool first_report(const char *kind, Site site, Site other) {
    for (int i = 0; i < reports; i++) {
        if (reported[i].kind == kind && reported[i].site == site && reported[i].other == other) {
            return false;
        }
    }
    if (reports < REPORTED) {
        reported[reports].kind = kind;
        reported[reports].site = site;
        reported[reports++].other = other;
    }
    return true;
}

bool reported_before(const char *kind, Site site) {
    for (int i = 0; i < reports; i++) {
        if (strcmp(reported[i].kind, kind) == 0 &&
            (reported[i].site == site || reported[i].other == site)) {
            return true;
        }
    }
    return false;
}
