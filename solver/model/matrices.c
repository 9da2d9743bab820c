// A schedule as Checkmate's S and R: see matrices.h.
#include "solver/model/matrices.h"

#include "ir/json/json_write.h"

status matrices_make(const struct problem *p, struct steps s, struct arena *a, struct diags *d,
                     struct matrices *out) {
    int32_t n = p->n, t = 0;
    if (n > MATRICES_NODES)
        return diag_error(d, DIAG_LIMIT, loc_none(),
                          "%d nodes; the matrices are square, and made for at most %d nodes", n,
                          MATRICES_NODES);
    *out = (struct matrices){.n = n,
                             .order = ARENA_ARRAY(a, int32_t, n),
                             .R = ARENA_ARRAY(a, int32_t, (size_t)n * (size_t)n),
                             .S = ARENA_ARRAY(a, bool, (size_t)n *(size_t)n)};
    bool *held = ARENA_ARRAY(a, bool, n), *ran = ARENA_ARRAY(a, bool, n);
    if (!out->order || !out->R || !out->S || !held || !ran)
        return diag_out_of_memory(d);
    for (int32_t k = 0; k < s.n; k++) {
        int32_t v = s.at[k].node;
        held[v] = s.at[k].kind == STEP_COMPUTE;
        if (!held[v])
            continue;
        int32_t stage = t < n ? t : n - 1;
        out->R[(size_t)stage * (size_t)n + (size_t)v]++;
        if (ran[v] || t == n)
            continue;
        // The stage is over, but what is freed before the next computation is not carried over.
        ran[v] = true;
        out->order[t++] = v;
        int32_t next = k + 1;
        while (next < s.n && s.at[next].kind == STEP_FREE)
            held[s.at[next++].node] = false;
        for (int32_t i = 0; t < n && i < n; i++)
            out->S[(size_t)t * (size_t)n + (size_t)i] = held[i];
        k = next - 1;
    }
    return ST_OK;
}

void matrices_print(struct str *out, const struct matrices *m) {
    for (int32_t t = 0; t < m->n; t++) {
        for (int32_t i = 0; i < m->n; i++) {
            size_t at = (size_t)t * (size_t)m->n + (size_t)i;
            str_add_char(out, ".SRB"[(m->S[at] ? 1 : 0) + (m->R[at] ? 2 : 0)]);
        }
        str_add_char(out, '\n');
    }
}

static void add_rows(struct json_writer *w, const struct matrices *m, const char *name, bool is_r) {
    json_write_line(w);
    json_write_array(w, name);
    for (int32_t t = 0; t < m->n; t++) {
        json_write_line(w);
        json_write_array(w, NULL);
        for (int32_t i = 0; i < m->n; i++) {
            size_t at = (size_t)t * (size_t)m->n + (size_t)i;
            json_write_int(w, NULL, is_r ? m->R[at] : (int)m->S[at]);
        }
        json_write_end(w);
    }
    json_write_end(w);
}

void matrices_print_json(struct str *out, const struct matrices *m) {
    struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-matrices");
    json_write_array(&w, "order");
    for (int32_t t = 0; t < m->n; t++)
        json_write_int(&w, NULL, m->order[t]);
    json_write_end(&w);
    add_rows(&w, m, "R", true);
    add_rows(&w, m, "S", false);
    json_write_finish(&w);
}
