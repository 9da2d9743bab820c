// The name patterns of an option: see patterns.h.
#include "passes/patterns.h"

status patterns_open(struct pass_context *c, const char *option, struct patterns *out) {
    out->option = option;
    out->list = options_get(c->options, option);
    out->hit = ARENA_ARRAY(c->arena, bool, out->list->list.n);
    return out->hit ? ST_OK : diag_out_of_memory(c->diags);
}

bool patterns_match(struct patterns *t, const char *name) {
    bool any = false;
    for (size_t i = 0; name && i < t->list->list.n; i++)
        if (str_match(t->list->list.at[i], name))
            any = t->hit[i] = true;
    return any;
}

status patterns_close(struct pass_context *c, const struct patterns *t, const char *what) {
    status st = ST_OK;
    for (size_t i = 0; i < t->list->list.n; i++)
        if (!t->hit[i])
            st = diag_error(c->diags, DIAG_USAGE, loc_none(), "--%s %s matches no %s", t->option,
                            t->list->list.at[i], what);
    return st;
}
