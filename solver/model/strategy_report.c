// The table of a strategy: see strategy_report.h.
#include "solver/model/strategy_report.h"

#include <string.h>

void strategy_add_time(struct str *out, const struct placement *p, int64_t time) {
    if (p->ticks == 1)
        str_addf(out, "%lld", (long long)time);
    else
        str_addf(out, "%.3f", (double)time / (double)p->ticks);
    if (*p->time_unit)
        str_addf(out, " %s", p->time_unit);
}

// Text, right-aligned in a column.
static void add_column(struct str *out, struct str *cell, int width) {
    str_addf(out, "  %*s", width, str_text(cell));
    cell->n = 0;
}

static void add_time(struct str *out, struct str *cell, const struct placement *p, int64_t time) {
    strategy_add_time(cell, p, time);
    add_column(out, cell, 14);
}

static void add_bytes(struct str *out, struct str *cell, int64_t bytes) {
    if (bytes == INT64_MAX)
        str_add(cell, "-");
    else
        str_add_bytes(cell, bytes);
    add_column(out, cell, 12);
}

static int name_width(const struct placement *p) {
    size_t width = 8;
    for (int32_t q = 0; q < p->n_resources; q++) {
        size_t n = strlen(p->resource_name[q]);
        width = n > width ? n : width;
    }
    return width < 40 ? (int)width : 40;
}

static void add_place(struct str *out, struct str *cell, const struct placement *p,
                      const struct strategy *s, const struct strategy_facts *f, int32_t place) {
    int32_t n_runs = 0;
    for (int32_t k = 0; k < s->n; k++)
        n_runs += s->at[k].place == place && s->at[k].from == TASK_RUN;
    int64_t busy = place < p->n_devices ? f->busy_cost[place] : 0;
    str_addf(out, "%-*s", name_width(p), p->place[place].name);
    add_time(out, cell, p, busy);
    if (place < p->n_devices) {
        add_time(out, cell, p, f->makespan_cost - busy);
    } else {
        str_add(cell, "-");
        add_column(out, cell, 14);
    }
    str_addf(out, "  %6d", n_runs);
    add_bytes(out, cell, f->peak_bytes[place]);
    add_bytes(out, cell, p->place[place].memory_bytes);
    if (f->peak_bytes[place] > p->place[place].memory_bytes)
        str_add(out, "  over");
    str_add_char(out, '\n');
}

// A time, and how far it is from its lower bound, if one is known.
static void add_bounded(struct str *out, const struct placement *p, int64_t time, int64_t bound) {
    strategy_add_time(out, p, time);
    if (bound <= 0 || time <= 0)
        return;
    str_add(out, " (lower bound ");
    strategy_add_time(out, p, bound);
    str_addf(out, ", optimality gap %.2f %%)", 100.0 * (double)(time - bound) / (double)time);
}

void strategy_report(struct str *out, const struct placement *p, const struct strategy *s,
                     const struct strategy_facts *f) {
    struct str cell = str_make(out->arena);
    str_addf(out, "%-*s  %14s  %14s  %6s  %12s  %12s\n", name_width(p), "place", "busy", "idle",
             "runs", "peak", "memory");
    for (int32_t k = 0; k < p->n_places; k++)
        add_place(out, &cell, p, s, f, k);
    for (int32_t q = p->n_devices; q < p->n_resources; q++) {
        if (f->busy_cost[q] == 0)
            continue;
        str_addf(out, "%-*s", name_width(p), p->resource_name[q]);
        add_time(out, &cell, p, f->busy_cost[q]);
        add_time(out, &cell, p, f->makespan_cost - f->busy_cost[q]);
        str_add_char(out, '\n');
    }
    int32_t n_runs = 0, n_fetches = 0, n_offloads = 0;
    for (int32_t k = 0; k < s->n; k++) {
        n_runs += s->at[k].from == TASK_RUN;
        n_fetches += s->at[k].from != TASK_RUN;
        n_offloads += s->at[k].place == p->host;
    }
    str_add(out, "makespan         ");
    add_bounded(out, p, f->makespan_cost, f->makespan_bound);
    str_add(out, "\ntime per sample  ");
    add_bounded(out, p, f->load_cost, f->load_bound);
    str_addf(out, "\nruns             %d of %d nodes\nmoved            ", n_runs, p->graph.n);
    str_add_bytes(out, f->moved_bytes);
    str_addf(out, " in %d transfers, %d of them to the host\n", n_fetches, n_offloads);
    if (f->energy > 0)
        str_addf(out, "energy           %lld\n", (long long)f->energy);
    if (f->excess_bytes > 0) {
        str_add(out, "over memory      ");
        str_add_bytes(out, f->excess_bytes);
        str_add_char(out, '\n');
    }
}
