// Problems from CSV, as spreadsheets and scripts write it (docs/solver.md). One file, two
// tables, each with a header line that names its columns; empty lines and lines that start with #
// are skipped:
//
//     name,cost,bytes,workspace,keep,once,backward     the first three are needed, in any order
//     conv1,206,436731904,0,0,0,0
//     from,to                                          names of nodes above
//     conv1,relu1
//
// A line "fixed_bytes,N" may stand anywhere. Fields have no quotes: a name has no comma.
#include "solver/model/problem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/base/map.h"

enum column { NAME, COST, BYTES, WORKSPACE, KEEP, ONCE, BACKWARD, FROM, TO, N_COLUMNS };

static const char *const column_names[N_COLUMNS] = {
    "name", "cost", "bytes", "workspace", "keep", "once", "backward", "from", "to"};

struct row {
    const char *name;
    int64_t value[N_COLUMNS];
};

struct csv {
    struct arena *arena;
    struct diags *diags;
    const char *file;
    int64_t line;
    enum column columns[N_COLUMNS]; // of the current table
    size_t n_columns;               // 0: no table yet
    bool in_edges, has_forward;
    int64_t persistent_bytes;
    struct map ids; // name -> node
    VEC(struct row) rows;
    VEC(struct problem_edge) edges;
};

__attribute__((format(printf, 2, 3))) static status bad(struct csv *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    status st = diag_errorv(c->diags, DIAG_MALFORMED, loc_line(c->file, c->line, 1), format, args);
    va_end(args);
    return st;
}

// Cuts the next field off the line, without the blanks around it; NULL: there is none.
static char *next_field(char **rest) {
    char *field = *rest;
    if (!field)
        return NULL;
    char *comma = strchr(field, ',');
    *rest = comma ? comma + 1 : NULL;
    if (comma)
        *comma = '\0';
    while (*field == ' ' || *field == '\t')
        field++;
    char *end = field + strlen(field);
    while (end > field && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        *--end = '\0';
    return field;
}

static status read_int(struct csv *c, const char *what, const char *field, int64_t *out) {
    char *end;
    errno = 0;
    long long x = strtoll(field, &end, 10);
    if (end == field || *end != '\0' || errno == ERANGE)
        return bad(c, "%s \"%s\" is not an integer that fits in 64 bits", what, field);
    *out = x;
    return x < 0 ? bad(c, "%s is negative", what) : ST_OK;
}

static bool is_header(const char *line) {
    return strncmp(line, "name,", 5) == 0 || strncmp(line, "from,", 5) == 0 ||
           strncmp(line, "cost,", 5) == 0 || strncmp(line, "bytes,", 6) == 0;
}

static status read_header(struct csv *c, char *line) {
    bool has[N_COLUMNS] = {0};
    c->n_columns = 0;
    for (char *field; (field = next_field(&line));) {
        int k = 0;
        while (k < N_COLUMNS && strcmp(column_names[k], field) != 0)
            k++;
        if (k == N_COLUMNS || has[k])
            return bad(c, "column \"%s\" is not known, or there twice", field);
        has[k] = true;
        c->columns[c->n_columns++] = (enum column)k;
    }
    c->in_edges = has[FROM];
    if (c->in_edges ? !(has[TO] && c->n_columns == 2)
                    : !(has[NAME] && has[COST] && has[BYTES]) || has[TO])
        return bad(c,
                   "the table of nodes needs the columns name,cost,bytes, that of edges from,to");
    c->has_forward = c->has_forward || has[BACKWARD];
    return ST_OK;
}

static status read_row(struct csv *c, char *line) {
    struct row row = {0};
    size_t k = 0;
    for (char *field; (field = next_field(&line)); k++) {
        if (k == c->n_columns)
            return bad(c, "there are more fields than the header has");
        enum column column = c->columns[k];
        status st = ST_OK;
        if (column == NAME)
            row.name = field;
        else if (column >= FROM && !map_get_text(&c->ids, field, &row.value[column]))
            return bad(c, "there is no node \"%s\" above", field);
        else if (column < FROM)
            st = read_int(c, column_names[column], field, &row.value[column]);
        if (st != ST_OK)
            return st;
    }
    if (k != c->n_columns)
        return bad(c, "there are fewer fields than the header has");
    if (c->in_edges) {
        struct problem_edge e = {(int32_t)row.value[FROM], (int32_t)row.value[TO]};
        return VEC_PUSH(c->arena, &c->edges, e) ? ST_OK : diag_out_of_memory(c->diags);
    }
    int64_t before;
    if (map_get_text(&c->ids, row.name, &before))
        return bad(c, "node \"%s\" is there twice", row.name);
    if (c->rows.n >= LIMIT_SOLVER_NODES)
        return diag_error(c->diags, DIAG_LIMIT, loc_line(c->file, c->line, 1),
                          "more than %d nodes; that many are taken at most", LIMIT_SOLVER_NODES);
    if (!map_put_text(&c->ids, row.name, (int64_t)c->rows.n) || !VEC_PUSH(c->arena, &c->rows, row))
        return diag_out_of_memory(c->diags);
    return ST_OK;
}

static status read_line(struct csv *c, char *line) {
    size_t n = strlen(line);
    if (n > 0 && line[n - 1] == '\r')
        line[n - 1] = '\0';
    if (line[0] == '\0' || line[0] == '#')
        return ST_OK;
    if (is_header(line))
        return read_header(c, line);
    if (strncmp(line, "fixed_bytes,", 12) == 0)
        return read_int(c, "fixed_bytes", line + 12, &c->persistent_bytes);
    if (c->n_columns == 0)
        return bad(c, "a header line is expected first: name,cost,bytes");
    return read_row(c, line);
}

static status build(struct csv *c, struct arena *a, struct problem *out) {
    status st = problem_alloc(a, c->diags, (int64_t)c->rows.n, out);
    if (st != ST_OK)
        return st;
    out->persistent_bytes = c->persistent_bytes;
    out->has_forward = c->has_forward;
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct row *r = &c->rows.at[i];
        out->name[i] = arena_copy(a, r->name, strlen(r->name) + 1);
        if (!out->name[i])
            return diag_out_of_memory(c->diags);
        out->cost[i] = r->value[COST];
        out->bytes[i] = r->value[BYTES];
        out->workspace[i] = r->value[WORKSPACE];
        out->keep[i] = r->value[KEEP] != 0;
        out->once[i] = r->value[ONCE] != 0;
        out->backward[i] = r->value[BACKWARD] != 0;
    }
    return problem_link(a, c->diags, c->edges.at, (int64_t)c->edges.n, c->file, out);
}

status problem_read_csv(struct arena *a, struct diags *d, const struct source *csv,
                        struct problem *out) {
    struct arena scratch = arena_make(a->mem);
    struct csv c = {.arena = &scratch, .diags = d, .file = csv->path, .ids = map_make(&scratch)};
    char *text = NULL;
    status st = source_text(csv, &scratch, d, LIMIT_TEXT_BYTES, &text);
    for (char *line = text; st == ST_OK && line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        c.line++;
        st = read_line(&c, line);
        line = end ? end + 1 : NULL;
    }
    if (st == ST_OK)
        st = build(&c, a, out);
    arena_free(&scratch);
    return st;
}
