// Parses the equation of an Einsum: see einsum.h.
#include "passes/shape/einsum.h"

#include <string.h>

static int32_t count_term(const char *at, bool *dots) {
    int32_t n = 0;
    for (*dots = false; *at && *at != ',' && strncmp(at, "->", 2) != 0; at++)
        if (*at == '.')
            *dots = true;
        else if (*at != ' ')
            n++;
    return n;
}

bool einsum_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static status read_input(const struct shape *s, struct einsum *e, const struct type *t) {
    bool dots;
    int32_t n = count_term(e->at, &dots), i = 0;
    if (dots ? t->rank < n : t->rank != n)
        return shape_fail(s, "an input has rank %d, but its term in the equation has %d letters",
                          t->rank, n);
    for (; *e->at && *e->at != ',' && strncmp(e->at, "->", 2) != 0; e->at++) {
        if (*e->at == '.' && strncmp(e->at, "...", 3) == 0) {
            int32_t extra = t->rank - n, shift = extra > e->n_dots ? extra - e->n_dots : 0;
            for (int32_t k = e->n_dots; shift && k-- > 0;)
                e->dots[k + shift] = e->dots[k];
            for (int32_t k = 0; k < shift; k++)
                e->dots[k] = dim_of(1);
            e->n_dots += shift;
            for (int32_t k = 0; k < extra; k++, i++)
                if (!dim_broadcast(e->dots[e->n_dots - extra + k], t->dims[i],
                                   &e->dots[e->n_dots - extra + k]))
                    return shape_fail(s, "the dimensions under \"...\" do not broadcast");
            e->at += 2;
        } else if (einsum_is_letter(*e->at)) {
            int c = *e->at;
            if (!e->seen[c])
                e->letter[c] = t->dims[i];
            else if (!dim_broadcast(e->letter[c], t->dims[i], &e->letter[c]))
                return shape_fail(s, "dimension '%c' is both %lld and %lld", c,
                                  (long long)e->letter[c].size, (long long)t->dims[i].size);
            e->seen[c] = true;
            i++;
        } else if (*e->at != ' ') {
            return shape_fail(s, "the equation has the character '%c', which is not allowed",
                              *e->at);
        }
    }
    return ST_OK;
}

status einsum_read(const struct shape *s, struct einsum *e, bool *known) {
    const char *equation = node_text(s->g, s->n, "equation", "");
    *e = (struct einsum){.at = equation};
    *known = true;
    for (uint32_t k = 0; k < s->n->n_in; k++) {
        const struct type *t = shape_ranked(s, k);
        if (!t) {
            *known = false;
            return ST_OK;
        }
        status st = read_input(s, e, t);
        if (st)
            return st;
        if (*e->at == ',')
            e->at++;
        else if (k + 1 < s->n->n_in)
            return shape_fail(s, "the equation \"%s\" has fewer terms than there are inputs",
                              equation);
    }
    return ST_OK;
}
