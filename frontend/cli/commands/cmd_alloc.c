// `mfc alloc BUFFERS.csv`: addresses for buffers with known live ranges, in the least arena.
#include <math.h>
#include <string.h>

#include "frontend/cli/cli.h"
#include "ir/base/file.h"
#include "ir/json/json_write.h"
#include "solver/model/buffers.h"
#include "solver/offsets.h"

static const char *status_word(int64_t arena_bytes, int64_t bound, int64_t capacity) {
    if (capacity > 0 && arena_bytes > capacity)
        return bound > capacity ? "infeasible" : "unknown";
    return capacity > 0 || arena_bytes != bound ? "feasible" : "optimal";
}

static void report(struct str *out, const struct buffers *b, int64_t arena_bytes, int64_t bound,
                   int64_t max_live, int64_t capacity) {
    str_addf(out, "buffers   %zu\n", b->n);
    str_addf(out, "arena     %lld bytes\n", (long long)arena_bytes);
    str_addf(out, "max live  %lld bytes\n", (long long)max_live);
    str_addf(out, "bound     %lld bytes\n", (long long)bound);
    if (max_live > 0)
        str_addf(out, "ratio     %.4f (arena / max live)\n",
                 (double)arena_bytes / (double)max_live);
    const char *word = status_word(arena_bytes, bound, capacity);
    str_addf(out, "status    %s%s\n", word, strcmp(word, "infeasible") == 0 ? " (proved)" : "");
}

static status write_json(struct cli *c, const struct buffers *b, int64_t arena_bytes, int64_t bound,
                         int64_t max_live, int64_t capacity) {
    const char *path = options_text(&c->options, "json");
    struct str out = str_make(&c->arena);
    if (!path)
        return ST_OK;
    struct json_writer w = json_write_document(&out, JSON_WRITE_COMPACT, "mfc-allocation");
    json_write_text(&w, "status", status_word(arena_bytes, bound, capacity));
    json_write_int(&w, "buffers", (int64_t)b->n);
    json_write_int(&w, "arena_bytes", arena_bytes);
    json_write_int(&w, "max_live_bytes", max_live);
    json_write_int(&w, "bound_bytes", bound);
    json_write_int_if(&w, "capacity_bytes", capacity > 0, capacity);
    json_write_finish(&w);
    return output_text(&c->arena, &c->diags, path, &out);
}

static status write_csv(struct cli *c, const char *path, const struct buffers *b,
                        const int64_t *offset) {
    struct output to;
    status st = output_open(&c->arena, &c->diags, path, &to);
    if (st == ST_OK) {
        st = buffers_write(b, offset, &to, &c->diags);
        if (st == ST_OK)
            st = output_commit(&to, &c->diags);
        output_abort(&to);
    }
    return st;
}

static struct offsets_options settings(struct cli *c) {
    return (struct offsets_options){
        .capacity_bytes = options_bytes(&c->options, "capacity", 0),
        .work = options_int(&c->options, "work"),
        .seed = (uint64_t)options_int(&c->options, "seed"),
        .n_searches = (int32_t)options_int(&c->options, "searches"),
    };
}

static status allocate(struct cli *c, const struct buffers *b) {
    const char *path = options_text(&c->options, "output");
    const char *json = options_text(&c->options, "json");
    struct offsets_options options = settings(c);
    // A limit on work alone makes the answer repeatable: then the clock ends nothing.
    bool is_timed = options_given(&c->options, "time") || options.work == 0;
    struct stop stop =
        stop_child(c->stop, is_timed ? options_seconds(&c->options, "time") : INFINITY);
    options.stop = &stop;
    int64_t max_live;
    struct offsets_result r = {.offset = ARENA_ARRAY(&c->arena, int64_t, b->n), .arena_bytes = -1};
    if (!r.offset)
        return diag_out_of_memory(&c->diags);
    if (path && json && strcmp(path, "-") == 0 && strcmp(json, "-") == 0)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "--output and --json cannot both go to standard output");
    if (options_given(&c->options, "capacity") && options.capacity_bytes <= 0)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(), "--capacity must be above 0");
    status st = offsets_max_live(b->buffer, b->n, &c->arena, &c->diags, &max_live);
    if (st != ST_OK)
        return st;
    st = offsets_race(b->buffer, b->n, &options, &c->arena, &c->diags, &r);
    // Fixed buffers that exclude each other leave nothing to report.
    if (r.arena_bytes < 0 || (st != ST_OK && st != ST_INFEASIBLE && st != ST_NO_PLAN))
        return st;
    // Rows or JSON have standard output to themselves.
    if ((!path || strcmp(path, "-") != 0) && (!json || strcmp(json, "-") != 0))
        report(&c->out, b, r.arena_bytes, r.bound, max_live, options.capacity_bytes);
    status written = write_json(c, b, r.arena_bytes, r.bound, max_live, options.capacity_bytes);
    if (written == ST_OK && st == ST_OK && path)
        written = write_csv(c, path, b, r.offset);
    return written != ST_OK ? written : st;
}

static status run(struct cli *c) {
    struct source *csv;
    struct buffers b;
    status st = source_open(&c->arena, &c->diags, c->arguments[0], &csv);
    if (st != ST_OK)
        return st;
    st = buffers_read(&c->arena, &c->diags, csv, &b);
    source_close(csv);
    return st == ST_OK ? allocate(c, &b) : st;
}

static const struct option_spec alloc_options[] = {
    {"capacity", 'c', OPTION_BYTES, "SIZE", NULL, 0, 0,
     "stop at the first answer that fits; exit code 5: none can, 6: none found"},
    {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0,
     "the same rows with their offsets; - is standard output, without the report"},
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write the result as JSON; - is standard output, without the report"},
    {"time", 't', OPTION_SECONDS, "TIME", "10s", 0, 0, "stop after this time: 20s, 2m, 1h"},
    {"work", 0, OPTION_INT, "N", "0", 0, INT64_MAX,
     "end after this many search steps instead, the same on every machine; 0: no limit"},
    {"seed", 0, OPTION_INT, "N", "1", 0, INT64_MAX / 2, "seed of the random numbers"},
    {"searches", 0, OPTION_INT, "N", "2", 1, 256,
     "searches in parallel, one thread each; the best result counts"},
    {0}};

const struct command cmd_alloc = {
    .name = "alloc",
    .summary = "give buffers with known live ranges addresses in the smallest arena",
    .arguments = "BUFFERS.csv",
    .description =
        "The file has the columns id, lower, upper and size: a buffer is live from lower up to, "
        "not including, upper. Columns alignment and fixed (a given offset) are optional.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = alloc_options,
    .run = run,
};
