// Options are data. A table says of each option its name, letter, kind, default, range and one line
// of help; from it come the command line's parser, `--help`, the manual page, and the library's
// mfc_set. The table is const and ends with a row without a name:
//
//     static const struct option_spec my_options[] = {
//         {"budget", 'b', OPTION_BUDGET, "SIZE", "100%", 0, 0, "memory to stay within"},
//         {"seed", 0, OPTION_INT, "N", "1", 0, INT64_MAX, "start of the random numbers"},
//         {0}};
//
// and the values are asked for by name:
//
//     int64_t seed = options_int(o, "seed");
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/base/mem.h"
#include "ir/base/status.h"
#include "ir/base/str.h"

enum option_kind {
    OPTION_FLAG,    // no argument on the command line; "true" or "false" through the library
    OPTION_TEXT,    // any text, e.g. a file name
    OPTION_CHOICE,  // one of the words in `argument`, which are separated by |
    OPTION_INT,     // whole number within min..max
    OPTION_REAL,    // finite number within min..max
    OPTION_SECONDS, // 20, 20s, 500ms, 2m, 1.5h (quantity.h)
    OPTION_BYTES,   // 4096, 64MiB, 1.5GB, in any case
    OPTION_BUDGET,  // bytes as above, or a share such as 60%; "none" where `argument` names it. A
                    // number without a unit must be whole and above max: 50 may mean 50%
    OPTION_LIST,    // texts, separated by commas; given again, it is added to
    OPTION_SAME,    // another name of the option that `default_text` names; hidden without a help
    OPTION_GROUP,   // not an option: `name` is the heading of the rows that follow, in the help
};

struct option_spec {
    const char *name;
    char letter; // 0: none
    enum option_kind kind;
    const char *argument;     // as the help shows it; NULL for a flag
    const char *default_text; // as one would type it; NULL: none; SAME: the other option's name
    int64_t min, max;         // of INT, REAL and SECONDS; both 0: no limits
    const char *help;         // one sentence, no full stop
};

struct option_value {
    bool given;             // by the user, not by the default
    const char *text;       // as given; NULL: neither given nor default
    bool flag;              // FLAG
    int64_t number;         // INT; BYTES; BUDGET in bytes (INT64_MAX: none), or in millionths of
                            // the whole if `share`
    double real;            // REAL; SECONDS
    bool share;             // BUDGET: a percentage
    VEC(const char *) list; // LIST
};

struct option_item {
    const struct option_spec *spec;
    struct option_value value;
};

struct options {
    struct arena *arena;
    VEC(struct option_item) items;
};

struct options options_make(struct arena *a);

// A copy that can be changed alone; texts are shared. False: out of memory.
bool options_copy(const struct options *from, struct arena *a, struct options *out);

// Adds a table with its defaults. Names and letters must differ from those already there.
status options_add(struct options *o, struct diags *d, const struct option_spec *table);

// Sets one from text; an unknown name (with the nearest known one) or a bad value is a diagnostic.
status options_set(struct options *o, struct diags *d, const char *name, const char *text);

// Values by name. Asking for a name that is in no table, or with the wrong kind, is a mistake of
// the program.
const struct option_value *options_get(const struct options *o, const char *name);
bool options_given(const struct options *o, const char *name);
bool options_flag(const struct options *o, const char *name);
const char *options_text(const struct options *o, const char *name); // TEXT, CHOICE; may be NULL
int64_t options_int(const struct options *o, const char *name);
double options_real(const struct options *o, const char *name);
double options_seconds(const struct options *o, const char *name);
int64_t options_bytes(const struct options *o, const char *name, int64_t otherwise);
// A share is taken of `whole_bytes` and rounded down.
int64_t options_budget(const struct options *o, const char *name, int64_t whole_bytes,
                       int64_t otherwise);

// The rows of a table that stand under this heading, for --help: aligned, within 80 columns. NULL:
// the rows before any heading.
void options_help(struct str *out, const struct option_spec *table, const char *heading);
