// Sharding of products: rows, columns and batches are concatenated, the common dimension is summed.
#include "passes/shard/shard_rule.h"

void shard_matmul(struct shard_rule *r) {
    const struct type *a = shard_in_type(r, 0), *b = shard_in_type(r, 1), *y = shard_out_type(r, 0);
    bool is_row = a->rank == 1, is_column = b->rank == 1; // of vectors
    int32_t n_matrix = (is_row ? 0 : 1) + (is_column ? 0 : 1);
    for (int32_t i = 0; i < y->rank - n_matrix; i++) { // batches, broadcast
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(y, i));
        int32_t from_end = y->rank - n_matrix - i;
        int32_t own_a = a->rank - 2 - from_end, own_b = b->rank - 2 - from_end;
        shard_out(r, 0, i, l);
        if (!is_row && own_a >= 0 && shard_size(a, own_a) == shard_size(y, i))
            shard_in(r, 0, own_a, l);
        if (!is_column && own_b >= 0 && shard_size(b, own_b) == shard_size(y, i))
            shard_in(r, 1, own_b, l);
    }
    if (!is_row) {
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(a, a->rank - 2));
        shard_in(r, 0, a->rank - 2, l);
        shard_out(r, 0, y->rank - n_matrix, l);
    }
    if (!is_column) {
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(b, b->rank - 1));
        shard_in(r, 1, b->rank - 1, l);
        shard_out(r, 0, y->rank - 1, l);
    }
    uint32_t l = shard_label(r, SHARD_SUM, shard_size(a, a->rank - 1));
    shard_in(r, 0, a->rank - 1, l);
    shard_in(r, 1, is_column ? 0 : b->rank - 2, l);
}

// The third operand is broadcast to the result; where the common dimension is divided, the first
// part alone adds it (shard_parts.c).
void shard_gemm(struct shard_rule *r) {
    const struct type *a = shard_in_type(r, 0), *c = shard_in_type(r, 2), *y = shard_out_type(r, 0);
    int32_t ta = node_int(r->s->n, "transA", 0) != 0, tb = node_int(r->s->n, "transB", 0) != 0;
    for (int32_t i = 0; i < 2; i++) {
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(y, i));
        int32_t own = c ? i - (2 - c->rank) : -1;
        shard_in(r, (uint32_t)i, i == 0 ? ta : 1 - tb, l);
        shard_out(r, 0, i, l);
        if (own >= 0 && shard_size(c, own) == shard_size(y, i))
            shard_in(r, 2, own, l);
    }
    uint32_t l = shard_label(r, SHARD_SUM, shard_size(a, 1 - ta));
    shard_in(r, 0, 1 - ta, l);
    shard_in(r, 1, tb, l);
}

static uint32_t letter_label(struct shard_rule *r, uint32_t *of, const char *result, char c,
                             int64_t size) {
    bool kept = false;
    for (const char *p = result; *p; p++)
        kept |= *p == c;
    if (!of[(unsigned char)c])
        of[(unsigned char)c] = shard_label(r, kept ? SHARD_CONCAT : SHARD_SUM, size);
    return of[(unsigned char)c];
}

// Of equations with an arrow and single letters; a letter twice in one operand is a diagonal.
void shard_einsum(struct shard_rule *r) {
    const char *text = node_text(r->s->g, r->s->n, "equation", ""), *arrow = NULL;
    uint32_t of[256] = {0}, k = 0;
    int32_t dim = 0;
    char plain[256];
    size_t n = 0;
    r->why = "its equation is not of single letters with an arrow";
    for (const char *p = text; *p && n + 1 < sizeof plain; p++)
        if (*p != ' ')
            plain[n++] = *p;
    plain[n] = 0;
    for (const char *p = plain; *p; p++) {
        bool is_letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        if (*p == '-' && p[1] == '>')
            arrow = p++;
        else if (!is_letter && *p != ',')
            return;
        for (const char *q = p + 1; is_letter && *q && *q != ',' && *q != '-'; q++)
            if (*q == *p)
                return;
    }
    if (!arrow)
        return;
    r->why = NULL;
    for (const char *p = plain; p < arrow; p++)
        if (*p == ',') {
            k++;
            dim = 0;
        } else {
            const struct type *x = shard_in_type(r, k);
            shard_in(r, k, dim, letter_label(r, of, arrow + 2, *p, shard_size(x, dim)));
            dim++;
        }
    dim = 0;
    for (const char *p = arrow + 2; *p; p++)
        shard_out(r, 0, dim++, of[(unsigned char)*p]);
}
