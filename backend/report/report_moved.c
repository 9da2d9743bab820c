// The transfers of a plan between devices and host, largest first.
#include <stdlib.h>
#include <string.h>

#include "backend/report/markup.h"
#include "backend/report/report_parts.h"
#include "ir/keys.h"

#define MAX_ROWS    60
#define NAME_LENGTH 44

struct transfer_row {
    uint32_t step;
    int64_t bytes;
};

static int by_size(const void *a, const void *b) {
    const struct transfer_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

static void add_row(struct report_page *r, const struct transfer_row *m) {
    const struct timeline *t = &r->after;
    const struct node *n = graph_node(t->graph, t->order[m->step]);
    const char *from = pairs_get(&n->metadata, KEY_FROM);
    str_add(r->out, "<tr><td class=\"name\">");
    markup_add_short(r->out, n->n_in ? graph_value(t->graph, n->in[0])->name : n->type,
                     NAME_LENGTH);
    str_add(r->out, "</td><td>");
    markup_add_short(r->out, from ? from : "?", NAME_LENGTH);
    str_add(r->out, " → ");
    markup_add_short(r->out, t->device_name[t->device[m->step]], NAME_LENGTH);
    str_add(r->out, "</td><td class=\"number\">");
    report_add_bytes(r->out, m->bytes);
    str_add(r->out, "</td><td class=\"number\">");
    report_add_cost(r->out, t, t->start[m->step]);
    str_add(r->out, "</td></tr>\n");
}

void report_moved(struct report_page *r) {
    const struct timeline *t = &r->after;
    struct transfer_row *moves = ARENA_ARRAY(r->arena, struct transfer_row, t->n_steps);
    size_t n = 0;
    if (!moves) {
        r->out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct node *at = graph_node(t->graph, t->order[i]);
        if (t->work[i] != WORK_TRANSFER || !at->n_out)
            continue;
        moves[n++] = (struct transfer_row){i, t->storage.bytes[t->storage.of[at->out[0].i]]};
    }
    if (!n)
        return;
    qsort(moves, n, sizeof *moves, by_size);
    str_addf(r->out, "<section id=\"moved\">\n<h2>Transfers</h2>\n<p>%zu transfer%s, ", n,
             n == 1 ? "" : "s");
    report_add_bytes(r->out, r->facts->moved_bytes);
    str_add(r->out, " in total.</p>\n<div class=\"wide\"><table>\n<thead><tr><th>tensor</th>"
                    "<th>devices</th><th class=\"number\">size</th><th class=\"number\">start</th>"
                    "</tr>"
                    "</thead>\n<tbody>\n");
    for (size_t i = 0; i < n && i < MAX_ROWS; i++)
        add_row(r, &moves[i]);
    str_add(r->out, "</tbody></table></div>\n");
    if (n > MAX_ROWS)
        str_addf(r->out, "<p class=\"soft\">and %zu smaller transfers</p>\n", n - MAX_ROWS);
    str_add(r->out, "</section>\n");
}
