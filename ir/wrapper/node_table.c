// The table of node metadata: see node_table.h.
#include "ir/wrapper/node_table.h"

#include <string.h>

#include "ir/keys.h"

static const char *const columns[] = {KEY_ORIGIN, KEY_ROLE,   KEY_STAGE,
                                      KEY_FROM,   KEY_DEVICE, KEY_OFFSET};
enum { N_COLUMNS = sizeof columns / sizeof *columns, N_PREFIX = sizeof "dev.mfc." - 1 };

static bool is_column(const char *key) {
    for (size_t k = 0; k < N_COLUMNS; k++)
        if (strcmp(columns[k], key) == 0)
            return true;
    return false;
}

static bool is_table(const char *key) {
    return strcmp(key, KEY_NODES) == 0;
}

// A list without the dropped pairs; the old list, which a copy of the model may share, stays.
static bool drop(struct pairs *p, struct arena *a, bool (*is_dropped)(const char *key)) {
    struct pair *kept = ARENA_ARRAY(a, struct pair, p->n);
    size_t n = 0;
    for (size_t i = 0; kept && i < p->n; i++)
        if (!is_dropped(p->at[i].key))
            kept[n++] = p->at[i];
    if (kept)
        *p = (struct pairs){n ? kept : NULL, n};
    return kept;
}

static void add_value(struct str *to, const char *value, const char *name) {
    if (name && strcmp(value, name) == 0)
        str_add(to, *value ? "\\=" : "\\0");
    else if (!*value)
        str_add(to, "\\0");
    else
        for (; *value; value++) {
            const char *escaped = *value == '\\'   ? "\\\\"
                                  : *value == '\t' ? "\\t"
                                  : *value == '\n' ? "\\n"
                                                   : NULL;
            if (escaped)
                str_add(to, escaped);
            else
                str_add_char(to, *value);
        }
}

static void add_row(struct str *to, const struct node *n, const bool *used) {
    size_t n_tabs = 0;
    for (size_t k = 0; k < N_COLUMNS; k++) {
        const char *value = pairs_get(&n->metadata, columns[k]);
        for (; value && n_tabs; n_tabs--)
            str_add_char(to, '\t');
        if (value)
            add_value(to, value, n->name);
        n_tabs += used[k];
    }
}

status node_table_pack(struct model *m, struct graph *g, struct diags *d) {
    struct str text = str_make(m->arena);
    bool used[N_COLUMNS] = {0};
    const char *separator = "";
    for (size_t k = 0; k < N_COLUMNS; k++) {
        for (size_t i = 0; i < g->order.n && !used[k]; i++)
            used[k] = pairs_get(&graph_node(g, g->order.at[i])->metadata, columns[k]);
        if (used[k]) {
            str_addf(&text, "%s%s", separator, columns[k] + N_PREFIX);
            separator = "\t";
        }
    }
    if (!*separator)
        return ST_OK;
    for (size_t i = 0; i < g->order.n; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        str_add_char(&text, '\n');
        add_row(&text, n, used);
        if (n->metadata.n && !drop(&n->metadata, m->arena, is_column))
            return diag_out_of_memory(d);
    }
    bool fits = !text.failed && pairs_set(&m->metadata, m->arena, KEY_NODES, str_text(&text));
    return fits ? ST_OK : diag_out_of_memory(d);
}

struct table {
    struct model *m;
    struct diags *d;
    const char *column[N_COLUMNS];
    size_t n_columns;
};

__attribute__((format(printf, 2, 3))) static status bad_table(const struct table *t,
                                                              const char *format, ...) {
    va_list args;
    va_start(args, format);
    status st = diag_errorv(t->d, DIAG_MALFORMED, loc_path(t->m->path, KEY_NODES), format, args);
    va_end(args);
    return st;
}

static status read_header(struct table *t, const char *text, size_t n) {
    for (size_t at = 0; at <= n;) {
        size_t length = 0, k = 0;
        while (at + length < n && text[at + length] != '\t')
            length++;
        while (k < N_COLUMNS && (strlen(columns[k]) != N_PREFIX + length ||
                                 memcmp(columns[k] + N_PREFIX, text + at, length) != 0))
            k++;
        if (k == N_COLUMNS)
            return bad_table(t, "column %zu has an unknown name", t->n_columns);
        for (size_t i = 0; i < t->n_columns; i++)
            if (t->column[i] == columns[k])
                return bad_table(t, "two columns have the name %s", columns[k]);
        t->column[t->n_columns++] = columns[k];
        at += length + 1;
    }
    return ST_OK;
}

// The value in text[0 .. n-1]; false: an unknown escape.
static bool read_value(const struct node *node, const char *text, size_t n, struct str *value) {
    bool is_name = n == 2 && memcmp(text, "\\=", 2) == 0;
    if (is_name && node->name)
        str_add(value, node->name);
    if (is_name || (n == 2 && memcmp(text, "\\0", 2) == 0))
        return !is_name || node->name;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (c == '\\') {
            const char *known = i + 1 < n ? strchr("\\tn", text[i + 1]) : NULL;
            if (!known || !*known)
                return false;
            c = text[i + 1] == 't' ? '\t' : text[i + 1] == 'n' ? '\n' : '\\';
            i++;
        }
        str_add_char(value, c);
    }
    return true;
}

static status read_row(const struct table *t, struct node *node, const char *text, size_t n) {
    size_t at = 0;
    for (size_t k = 0; at <= n && n; k++) {
        size_t length = 0;
        while (at + length < n && text[at + length] != '\t')
            length++;
        if (k == t->n_columns)
            return bad_table(t, "a line has more values than there are columns");
        if (length) {
            struct str value = str_make(t->m->arena);
            if (!read_value(node, text + at, length, &value) ||
                pairs_get(&node->metadata, t->column[k]))
                return bad_table(t, "a wrong value of %s for node %s", t->column[k],
                                 node->name ? node->name : "");
            if (value.failed ||
                !pairs_set(&node->metadata, t->m->arena, t->column[k], str_text(&value)))
                return diag_out_of_memory(t->d);
        }
        at += length + 1;
    }
    return ST_OK;
}

status node_table_unpack(struct model *m, struct graph *g, struct diags *d) {
    struct table t = {.m = m, .d = d};
    const char *text = pairs_get(&m->metadata, KEY_NODES);
    if (!text)
        return ST_OK;
    size_t length = strcspn(text, "\n"), i = 0;
    status st = read_header(&t, text, length);
    for (text += length; *text && i < g->order.n && !st; text += length, i++) {
        length = strcspn(++text, "\n");
        st = read_row(&t, graph_node(g, g->order.at[i]), text, length);
    }
    if (!st && (*text || i < g->order.n))
        st = bad_table(&t, "the table has not one line for each of the %zu nodes", g->order.n);
    if (!st && !drop(&m->metadata, m->arena, is_table))
        st = diag_out_of_memory(d);
    return st;
}
