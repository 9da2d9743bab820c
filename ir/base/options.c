// The option tables' reader: see options.h. A value is checked when it is set, so that whoever asks
// for it later gets something in range.
#include "ir/base/options.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/plain.h"
#include "ir/base/quantity.h"

#define HELP_COLUMN 30

struct options options_make(struct arena *a) {
    return (struct options){.arena = a};
}

bool options_copy(const struct options *from, struct arena *a, struct options *out) {
    *out = options_make(a);
    for (size_t i = 0; i < from->items.n; i++)
        if (!VEC_PUSH(a, &out->items, from->items.at[i]))
            return false;
    return true;
}

static struct option_item *find(const struct options *o, const char *name) {
    for (size_t i = 0; i < o->items.n; i++)
        if (strcmp(o->items.at[i].spec->name, name) == 0)
            return &o->items.at[i];
    return NULL;
}

// Is `word` one of the words in "auto|always|never"?
static bool is_choice(const char *choices, const char *word) {
    size_t n = strlen(word);
    for (const char *p = choices; n && p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (strncmp(p, word, n) == 0 && (p[n] == 0 || p[n] == '|'))
            return true;
    return false;
}

static bool parse_list(struct arena *a, const char *text, struct option_value *v) {
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ",");
        if (n) {
            char *word = arena_alloc(a, n + 1);
            if (!word || !VEC_PUSH(a, &v->list, memcpy(word, p, n)))
                return false;
        }
        p += n + (p[n] == ',');
    }
    return true;
}

static bool in_range(const struct option_spec *s, double x) {
    return (s->min == 0 && s->max == 0) || (x >= (double)s->min && x <= (double)s->max);
}

// "50" or "0.5": a share without its sign, more likely than so many bytes.
static bool is_unclear_budget(const struct option_spec *s, const char *text, int64_t n_bytes) {
    bool is_bare = !text[strspn(text, "0123456789.")];
    return is_bare && (strchr(text, '.') || (n_bytes > 0 && n_bytes <= s->max));
}

// What a value of this kind looks like; NULL: `text` is one, and `v` holds it.
static const char *parse_value(const struct option_spec *s, const char *text,
                               struct option_value *v) {
    char *end;
    errno = 0;
    switch (s->kind) {
    case OPTION_FLAG:
        v->flag = strcmp(text, "true") == 0;
        return v->flag || strcmp(text, "false") == 0 ? NULL : "true or false";
    case OPTION_INT:
        v->number = strtoll(text, &end, 10);
        return *text && !*end && !errno && in_range(s, (double)v->number) ? NULL : "a whole number";
    case OPTION_REAL:
        v->real = plain_strtod(text, &end);
        return *text && !*end && isfinite(v->real) && in_range(s, v->real) ? NULL : "a number";
    case OPTION_SECONDS:
        return quantity_parse_seconds(text, &v->real) && in_range(s, v->real)
                   ? NULL
                   : "a time such as 20s, 2m or 1.5h";
    case OPTION_BYTES:
        return quantity_parse_bytes(text, &v->number) ? NULL : "a size such as 512MiB or 4GiB";
    case OPTION_BUDGET:
        if (strcmp(text, "none") == 0 && is_choice(s->argument, text)) {
            v->number = INT64_MAX;
            return NULL;
        }
        v->share = quantity_parse_percent(text, &v->number);
        if (!v->share && !quantity_parse_bytes(text, &v->number))
            return "a size or share: 4GiB or 60%";
        return !v->share && is_unclear_budget(s, text, v->number)
                   ? "a unit: 50% is half, 50B are bytes, 4GiB"
                   : NULL;
    case OPTION_CHOICE:
        return is_choice(s->argument, text) ? NULL : s->argument;
    case OPTION_TEXT:
    case OPTION_LIST:
    case OPTION_SAME:
    case OPTION_GROUP:
        break;
    }
    return NULL;
}

static status set_item(struct options *o, struct diags *d, struct option_item *item,
                       const char *text, bool given) {
    const struct option_spec *s = item->spec;
    struct option_value v = item->value;
    // The user's first value takes the default's place; further ones are added to it.
    if (given && !v.given)
        v = (struct option_value){0};
    const char *wanted = parse_value(s, text, &v);
    if (wanted && (s->min || s->max) && (s->kind == OPTION_INT || s->kind == OPTION_REAL))
        return diag_error(d, DIAG_USAGE, loc_none(), "--%s wants %s from %lld to %lld, not \"%s\"",
                          s->name, wanted, (long long)s->min, (long long)s->max, text);
    if (wanted)
        return diag_error(d, DIAG_USAGE, loc_none(), "--%s wants %s, not \"%s\"", s->name, wanted,
                          text);
    if (s->kind == OPTION_LIST && !parse_list(o->arena, text, &v))
        return diag_out_of_memory(d);
    v.given = given;
    if (!(v.text = arena_copy(o->arena, text, strlen(text) + 1)))
        return diag_out_of_memory(d);
    item->value = v;
    return ST_OK;
}

status options_add(struct options *o, struct diags *d, const struct option_spec *table) {
    status st = ST_OK;
    for (const struct option_spec *s = table; s && s->name && !st; s++) {
        if (s->kind == OPTION_GROUP)
            continue;
        assert(!find(o, s->name));
        if (!VEC_PUSH(o->arena, &o->items, ((struct option_item){.spec = s})))
            return diag_out_of_memory(d);
        if (s->default_text && s->kind != OPTION_SAME)
            st = set_item(o, d, &o->items.at[o->items.n - 1], s->default_text, false);
    }
    return st;
}

// "batch-size" begins with the words of "batch".
static bool begins_with_words(const char *name, const char *words) {
    size_t n = strlen(words);
    return n > 1 && strncmp(name, words, n) == 0 && name[n] == '-';
}

status options_set(struct options *o, struct diags *d, const char *name, const char *text) {
    struct option_item *item = find(o, name);
    if (item && item->spec->kind == OPTION_SAME)
        return options_set(o, d, item->spec->default_text, text);
    if (item)
        return set_item(o, d, item, text, true);
    const char *near = NULL;
    size_t nearest = STR_NEAR;
    for (size_t i = 0; i < o->items.n; i++)
        if (str_is_nearer(name, o->items.at[i].spec->name, &nearest))
            near = o->items.at[i].spec->name;
    for (size_t i = 0; i < o->items.n && !near; i++)
        if (begins_with_words(name, o->items.at[i].spec->name))
            near = o->items.at[i].spec->name;
    return diag_error(d, DIAG_USAGE, loc_none(), "there is no option --%s%s%s%s", name,
                      near ? "; is it --" : "", near ? near : "", near ? "?" : "");
}

const struct option_value *options_get(const struct options *o, const char *name) {
    const struct option_item *item = find(o, name);
    assert(item);
    return &item->value;
}

bool options_given(const struct options *o, const char *name) {
    return options_get(o, name)->given;
}

bool options_flag(const struct options *o, const char *name) {
    return options_get(o, name)->flag;
}

const char *options_text(const struct options *o, const char *name) {
    return options_get(o, name)->text;
}

int64_t options_int(const struct options *o, const char *name) {
    return options_get(o, name)->number;
}

double options_seconds(const struct options *o, const char *name) {
    return options_get(o, name)->real;
}

double options_real(const struct options *o, const char *name) {
    return options_get(o, name)->real;
}

int64_t options_bytes(const struct options *o, const char *name, int64_t otherwise) {
    const struct option_value *v = options_get(o, name);
    return v->text ? v->number : otherwise;
}

int64_t options_budget(const struct options *o, const char *name, int64_t whole_bytes,
                       int64_t otherwise) {
    const struct option_value *v = options_get(o, name);
    if (!v->text)
        return otherwise;
    int64_t n_bytes = v->number;
    if (v->share && !checked_muldiv(whole_bytes, v->number, 1000000, &n_bytes))
        n_bytes = INT64_MAX;
    return n_bytes;
}

static void add_row(struct str *out, const struct option_spec *s) {
    struct str left = str_make(out->arena), right = str_make(out->arena);
    if (s->letter)
        str_addf(&left, "  -%c, --%s", s->letter, s->name);
    else
        str_addf(&left, "      --%s", s->name);
    if (s->argument)
        str_addf(&left, "=%s", s->argument);
    // A left part that is too wide gets a line of its own.
    if (left.n < HELP_COLUMN)
        str_addf(out, "%-*s", HELP_COLUMN, str_text(&left));
    else
        str_addf(out, "%s\n%*s", str_text(&left), HELP_COLUMN, "");
    str_add(&right, s->help);
    if (s->default_text && s->kind != OPTION_FLAG && s->kind != OPTION_SAME)
        str_addf(&right, " (%s)", s->default_text);
    str_add_wrapped(out, str_text(&right), HELP_COLUMN);
    str_add_char(out, '\n');
}

void options_help(struct str *out, const struct option_spec *table, const char *heading) {
    const char *now = NULL;
    for (const struct option_spec *s = table; s && s->name; s++) {
        if (s->kind == OPTION_GROUP) {
            now = s->name;
            continue;
        }
        if (!s->help || (now ? !heading || strcmp(now, heading) != 0 : heading != NULL))
            continue;
        add_row(out, s);
    }
}
