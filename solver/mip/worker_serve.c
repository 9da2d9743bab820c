// The worker's side: reads one model, solves it, writes one answer. The header is validated and the
// body is checked by its hash.
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "solver/mip/worker.h"

static bool read_all(int fd, void *to, size_t n) {
    for (size_t got = 0; got < n;) {
        ssize_t k = read(fd, (char *)to + got, n - got);
        if (k <= 0 && !(k < 0 && errno == EINTR))
            return false;
        got += k > 0 ? (size_t)k : 0;
    }
    return true;
}

static bool write_all(int fd, const void *from, size_t n) {
    for (size_t sent = 0; sent < n;) {
        ssize_t k = write(fd, (const char *)from + sent, n - sent);
        if (k <= 0 && !(k < 0 && errno == EINTR))
            return false;
        sent += k > 0 ? (size_t)k : 0;
    }
    return true;
}

static bool head_is_sound(const struct worker_model_head *h) {
    if (h->magic != WORKER_MODEL_MAGIC || h->n_cols < 0 || h->n_rows < 0 || h->n_terms < 0)
        return false;
    struct worker_layout l = worker_layout(h);
    return h->body_bytes >= 0 && (size_t)h->body_bytes == l.n_bytes;
}

// Points the model into the message body, without copies; the model must not grow.
static void model_from(const struct worker_model_head *h, char *body, struct arena *a,
                       struct cbc_model *m) {
    struct worker_layout l = worker_layout(h);
    size_t n_cols = (size_t)h->n_cols, n_rows = (size_t)h->n_rows, n_terms = (size_t)h->n_terms;
    cbc_open(m, a);
    m->col_lower.at = (double *)(void *)(body + l.col_lower);
    m->col_upper.at = (double *)(void *)(body + l.col_upper);
    m->col_cost.at = (double *)(void *)(body + l.col_cost);
    m->col_integer.at = body + l.col_integer;
    m->row_lower.at = (double *)(void *)(body + l.row_lower);
    m->row_upper.at = (double *)(void *)(body + l.row_upper);
    m->row_start.at = (int32_t *)(void *)(body + l.row_start);
    m->term_col.at = (int32_t *)(void *)(body + l.term_col);
    m->term_value.at = (double *)(void *)(body + l.term_value);
    m->col_lower.n = m->col_upper.n = m->col_cost.n = m->col_integer.n = n_cols;
    m->row_lower.n = m->row_upper.n = m->row_start.n = n_rows;
    m->term_col.n = m->term_value.n = n_terms;
}

static bool reply(int fd, const struct cbc_answer *answer, int32_t n_cols) {
    struct worker_answer_head head = {.magic = WORKER_ANSWER_MAGIC,
                                      .bound = answer->bound,
                                      .result = (int32_t)answer->result,
                                      .n_nodes = answer->n_nodes,
                                      .n_iterations = answer->n_iterations,
                                      .n_cols = answer->x ? n_cols : 0};
    size_t n_bytes = (size_t)head.n_cols * sizeof(double);
    const void *body = answer->x ? (const void *)answer->x : "";
    head.body_bytes = (int64_t)n_bytes;
    head.hash = worker_hash(&head, sizeof head, body, n_bytes);
    return write_all(fd, &head, sizeof head) && write_all(fd, body, n_bytes);
}

// Private memory of this process: the sixth number of statm, in pages. 0: unknown.
static rlim_t private_bytes(void) {
    char text[256] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    bool ok = f && fgets(text, sizeof text, f);
    if (f)
        fclose(f);
    char *at = text;
    unsigned long long pages = 0;
    for (int i = 0; ok && i < 6; i++)
        pages = strtoull(at, &at, 10);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

// CBC allocates by itself, so its limit is one of the process.
static bool limit_memory(int64_t more_bytes) {
    rlim_t now = more_bytes > 0 ? private_bytes() : 0, bytes = now + (rlim_t)more_bytes;
    return more_bytes <= 0 || (now > 0 && !setrlimit(RLIMIT_DATA, &(struct rlimit){bytes, bytes}));
}

status worker_serve(int fd, struct mem *mem) {
    assert(fd >= 0 && mem);
    struct arena a = arena_make(mem);
    struct worker_model_head head;
    struct cbc_answer answer = {.bound = -CBC_INF};
    bool ok = read_all(fd, &head, sizeof head) && head_is_sound(&head);
    ok = ok && limit_memory(head.memory_bytes);
    char *body = ok ? arena_alloc(&a, (size_t)head.body_bytes) : NULL;
    status st = !ok ? ST_IO : !body ? ST_LIMIT : ST_OK;
    if (!st && !read_all(fd, body, (size_t)head.body_bytes))
        st = ST_IO;
    uint64_t hash = head.hash;
    head.hash = 0;
    if (!st && worker_hash(&head, sizeof head, body, (size_t)head.body_bytes) != hash)
        st = ST_IO;
    if (!st) {
        struct cbc_model m;
        struct cbc_limits limits = {
            .seconds = head.seconds, .n_nodes = head.n_nodes, .gap = head.gap};
        struct worker_layout l = worker_layout(&head);
        model_from(&head, body, &a, &m);
        const double *initial = head.has_initial ? (double *)(void *)(body + l.initial) : NULL;
        if (!cbc_mip_here(&m, initial, &limits, &a, &answer))
            st = ST_LIMIT;
        else if (!reply(fd, &answer, head.n_cols))
            st = ST_IO;
    }
    arena_free(&a);
    return st;
}
