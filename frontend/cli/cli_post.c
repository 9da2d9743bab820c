// Messages over streams: see cli_post.h.
#include "frontend/cli/cli_post.h"

#include <string.h>

enum { MOST_BYTES = 1 << 30 };

static struct cli_message *make(struct mem *mem, struct cli_message_header header) {
    size_t n = (size_t)header.n_bytes;
    struct cli_message *m = mem_resize(mem, NULL, 0, sizeof *m + n);
    if (m)
        *m = (struct cli_message){.n_bytes = sizeof header + n, .header = header};
    return m;
}

void cli_post_free(struct mem *mem, struct cli_message *m) {
    if (m)
        mem_resize(mem, m, sizeof *m + (size_t)m->header.n_bytes, 0);
}

void cli_post_add(struct cli_queue *q, struct cli_message *m) {
    if (!q->first)
        q->end = &q->first;
    *q->end = m;
    q->end = &m->next;
}

struct cli_message *cli_post_take(struct cli_queue *q) {
    struct cli_message *m = q->first;
    if (m) {
        q->first = m->next;
        m->next = NULL;
    }
    return m;
}

// Where the next byte of the message is: its header is sent, too.
static char *next_byte(struct cli_message *m) {
    return (char *)m + offsetof(struct cli_message, header) + m->n_done;
}

bool cli_post_put(struct mem *mem, struct cli_post *p, int64_t kind, const void *bytes,
                  size_t n_bytes) {
    struct cli_message *m = n_bytes > MOST_BYTES
                                ? NULL
                                : make(mem, (struct cli_message_header){kind, (int64_t)n_bytes});
    if (!m)
        return false;
    if (n_bytes > 0)
        memcpy(m->bytes, bytes, n_bytes);
    cli_post_add(&p->out, m);
    return true;
}

void cli_post_send(struct mem *mem, struct cli_post *p, struct cli_links *l, int32_t to) {
    for (struct cli_message *m; (m = p->out.first);) {
        size_t n = cli_link_send(l, to, next_byte(m), m->n_bytes - m->n_done);
        m->n_done += n;
        if (m->n_done == m->n_bytes)
            cli_post_free(mem, cli_post_take(&p->out));
        else if (n == 0)
            return;
    }
}

// False: not all of it is there.
static bool receive_header(struct cli_post *p, struct cli_links *l, int32_t from, bool *heard) {
    size_t n =
        cli_link_receive(l, from, (char *)&p->header + p->n_header, sizeof p->header - p->n_header);
    *heard = *heard || n > 0;
    p->n_header += n;
    return p->n_header == sizeof p->header;
}

struct cli_message *cli_post_receive(struct mem *mem, struct cli_post *p, struct cli_links *l,
                                     int32_t from, bool *heard) {
    *heard = false;
    if (!p->partial) {
        if (!receive_header(p, l, from, heard))
            return NULL;
        p->n_header = 0;
        if (p->header.n_bytes >= 0 && p->header.n_bytes <= MOST_BYTES)
            p->partial = make(mem, p->header);
        if (!p->partial) {
            cli_link_break(l, from);
            return NULL;
        }
        p->partial->n_done = sizeof p->header;
    }
    struct cli_message *m = p->partial;
    while (m->n_done < m->n_bytes) {
        size_t n = cli_link_receive(l, from, next_byte(m), m->n_bytes - m->n_done);
        m->n_done += n;
        *heard = *heard || n > 0;
        if (n == 0)
            return NULL;
    }
    p->partial = NULL;
    return m;
}

void cli_post_close(struct mem *mem, struct cli_post *p) {
    cli_post_free(mem, p->partial);
    p->partial = NULL;
    while (p->out.first)
        cli_post_free(mem, cli_post_take(&p->out));
}
