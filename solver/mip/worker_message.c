// The messages between mfc and its CBC worker: layout and hash.
#include "ir/base/digest.h"
#include "solver/mip/worker.h"

static size_t place(size_t *at, int32_t n, size_t size) {
    size_t here = *at;
    *at += (size_t)n * size;
    return here;
}

struct worker_layout worker_layout(const struct worker_model_head *h) {
    struct worker_layout l = {0};
    size_t at = 0;
    l.col_lower = place(&at, h->n_cols, sizeof(double));
    l.col_upper = place(&at, h->n_cols, sizeof(double));
    l.col_cost = place(&at, h->n_cols, sizeof(double));
    l.row_lower = place(&at, h->n_rows, sizeof(double));
    l.row_upper = place(&at, h->n_rows, sizeof(double));
    l.term_value = place(&at, h->n_terms, sizeof(double));
    l.initial = place(&at, h->has_initial ? h->n_cols : 0, sizeof(double));
    l.row_start = place(&at, h->n_rows, sizeof(int32_t));
    l.term_col = place(&at, h->n_terms, sizeof(int32_t));
    l.col_integer = place(&at, h->n_cols, 1);
    l.n_bytes = at;
    return l;
}

uint64_t worker_hash(const void *head, size_t head_bytes, const void *body, size_t body_bytes) {
    return digest_block(body, body_bytes, digest_block(head, head_bytes, 0));
}
