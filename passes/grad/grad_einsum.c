// Gradient of Einsum: the gradient of one term is an Einsum of the output's gradient and the other
// terms. A letter that only this term has was summed over, so the gradient is constant along it,
// and Expand restores it. "..." is replaced by unused letters first. A letter that a term has twice
// takes a diagonal: there the second becomes a letter of its own, and the identity matrix of the
// two is one more term. A dimension of 1 that was broadcast is summed over.
#include "passes/grad/grad.h"

#include <string.h>

#include "ir/base/limits.h"

enum { MAX_TERMS = 8 };

struct equation {
    char in[MAX_TERMS][LIMIT_RANK + 1], out[LIMIT_RANK + 1];
    uint32_t n;
};

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Letters that the equation does not use, for the dimensions under "...".
static void spare_letters(const char *text, char *spare) {
    for (const char *c = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"; *c; c++)
        if (!strchr(text, *c))
            *spare++ = *c;
    *spare = 0;
}

// One term, with "..." spelled out as the last n_dots of the spare letters: right-aligned, as
// broadcasting is.
static const char *read_term(const char *at, const char *dots, int64_t n_dots, char *out) {
    size_t n = 0, n_spare = strlen(dots);
    for (; *at && *at != ',' && strncmp(at, "->", 2) != 0; at++) {
        if (strncmp(at, "...", 3) == 0) {
            for (int64_t i = 0; i < n_dots && n < LIMIT_RANK; i++)
                out[n++] = dots[n_spare - (size_t)n_dots + (size_t)i];
            at += 2;
        } else if (is_letter(*at) && n < LIMIT_RANK) {
            out[n++] = *at;
        }
    }
    out[n] = 0;
    return at;
}

static int64_t count_letters(const char *at) {
    int64_t n = 0;
    for (; *at && *at != ',' && strncmp(at, "->", 2) != 0; at++)
        n += is_letter(*at);
    return n;
}

static bool read_equation(struct grad *r, struct equation *e) {
    const char *text = node_text(r->g, r->n, "equation", ""), *at = text,
               *arrow = strstr(text, "->");
    char dots[64];
    spare_letters(text, dots);
    e->n = r->n->n_in;
    if (e->n > MAX_TERMS) {
        grad_refuse(r, "%u terms; the gradient rule supports at most %d", e->n, MAX_TERMS);
        return false;
    }
    int64_t most = 0;
    for (uint32_t k = 0; k < e->n; k++) {
        int64_t n_dots = grad_rank(r, r->x[k]) - count_letters(at);
        most = n_dots > most ? n_dots : most;
        at = read_term(at, dots, n_dots, e->in[k]);
        at += *at == ',';
    }
    if (arrow) {
        read_term(arrow + 2, dots, most, e->out);
        return true;
    }
    // Without an arrow: "..." and then the letters that occur once, in alphabetical order.
    size_t n = 0;
    for (int64_t i = 0; i < most; i++)
        e->out[n++] = dots[strlen(dots) - (size_t)most + (size_t)i];
    for (int c = 'A'; c <= 'z'; c++) {
        int times = 0;
        for (const char *p = text; *p; p++)
            times += *p == c;
        if (is_letter((char)c) && times == 1)
            e->out[n++] = (char)c;
    }
    e->out[n] = 0;
    return true;
}

static bool has_twice(const char *term) {
    for (const char *c = term; *c; c++)
        if (strchr(c + 1, *c))
            return true;
    return false;
}

// A dimension of 1 was broadcast if another term has a larger one.
static bool was_broadcast(struct grad *r, const struct equation *e, uint32_t k, size_t i) {
    for (uint32_t o = 0; o < e->n; o++) {
        const char *hit = strchr(e->in[o], e->in[k][i]);
        if (hit &&
            grad_dim(r, r->x[o], (int32_t)(hit - e->in[o])) != grad_dim(r, r->x[k], (int32_t)i))
            return true;
    }
    return false;
}

// Another term as an operand, without the dimensions of 1 that were broadcast; adds its letters.
static value_id without_broadcast(struct grad *r, const struct equation *e, uint32_t k,
                                  struct str *text) {
    int64_t dims[LIMIT_RANK];
    int32_t rank = 0;
    for (size_t i = 0; e->in[k][i]; i++) {
        int64_t size = grad_dim(r, r->x[k], (int32_t)i);
        if (size == 1 && was_broadcast(r, e, k, i))
            continue;
        str_add_char(text, e->in[k][i]);
        dims[rank++] = size;
    }
    return grad_reshape(r, r->x[k], dims, rank);
}

static value_id identity_matrix(struct grad *r, value_id like, int64_t n) {
    double *x = ARENA_ARRAY(r->a, double, (size_t)(n * n));
    for (int64_t i = 0; x && i < n; i++)
        x[i * n + i] = 1;
    return build_tensor(
        r->b, x ? tensor_from_reals(r->g->model->arena, grad_elem(r, like), x, (int64_t[]){n, n}, 2)
                : NULL);
}

// A letter that occurs nowhere in the equation so far.
static char spare_letter(const struct equation *e, const char *text, const char *term) {
    for (const char *c = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"; *c; c++) {
        bool used = strchr(text, *c) || strchr(term, *c) || strchr(e->out, *c);
        for (uint32_t k = 0; k < e->n; k++)
            used |= strchr(e->in[k], *c) != NULL;
        if (!used)
            return *c;
    }
    return 0;
}

static value_id term_gradient(struct grad *r, const struct equation *e, uint32_t k) {
    struct str text = str_make(r->a);
    value_id in[MAX_TERMS + LIMIT_RANK];
    uint32_t n = 0;
    int64_t dims[LIMIT_RANK];
    char term[LIMIT_RANK + 1], have[LIMIT_RANK + 1];
    strcpy(term, e->in[k]);
    str_add(&text, e->out);
    in[n++] = r->dy[0];
    for (uint32_t o = 0; o < e->n; o++)
        if (o != k) {
            str_add_char(&text, ',');
            in[n++] = without_broadcast(r, e, o, &text);
        }
    for (size_t i = 0; term[i]; i++) // diagonals
        if (memchr(term, term[i], i)) {
            char spare = spare_letter(e, str_text(&text), term);
            str_addf(&text, ",%c%c", term[i], spare);
            in[n++] = identity_matrix(r, r->x[k], grad_dim(r, r->x[k], (int32_t)i));
            term[i] = spare;
        }
    // Letters that only this term has cannot be in the output.
    size_t n_have = 0;
    int32_t rank = 0;
    for (; term[rank]; rank++) {
        bool spread = grad_dim(r, r->x[k], rank) == 1 && was_broadcast(r, e, k, (size_t)rank);
        bool known = !spread && strchr(str_text(&text), term[rank]) != NULL;
        if (known)
            have[n_have++] = term[rank];
        dims[rank] = known ? grad_dim(r, r->x[k], rank) : 1;
    }
    have[n_have] = 0;
    str_addf(&text, "->%s", have);
    value_id dx = build_op(r->b, "Einsum", (struct values){in, n},
                           ATTRS(attr_text("equation", str_text(&text))));
    return grad_expand_like(r, grad_reshape(r, dx, dims, rank), r->x[k]);
}

void back_einsum(struct grad *r) {
    struct equation e;
    if (!read_equation(r, &e))
        return;
    if (has_twice(e.out)) {
        grad_refuse(r, "a letter twice in the output has no gradient rule");
        return;
    }
    for (uint32_t k = 0; k < e.n; k++)
        if (r->want[k])
            r->dx[k] = term_gradient(r, &e, k);
}
