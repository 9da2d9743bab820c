// Checkpoints of a placement search: mfc-search JSON with the whole state of the chains, so that a
// resumed search continues as if it had not been interrupted. Reals are written in hexadecimal,
// which is exact.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/digest.h"
#include "ir/base/plain.h"
#include "ir/json/json.h"
#include "ir/json/json_write.h"
#include "solver/place/place_state.h"

// ---- The problem and objective of a checkpoint ----

static uint64_t add_numbers(uint64_t x, const int64_t *at, int64_t n) {
    return digest_block(at, (size_t)n * sizeof *at, x);
}

// A digest. Devices and links count by their costs, memory and routes.
static uint64_t problem_identity(const struct placement *p) {
    const struct problem *g = &p->graph;
    uint64_t x =
        add_numbers(0, (int64_t[]){g->n, g->n_edges, p->n_devices, g->persistent_bytes}, 4);
    x = add_numbers(x, g->bytes, g->n);
    x = add_numbers(x, g->workspace, g->n);
    x = digest_block(g->in_of, (size_t)g->n_edges * sizeof *g->in_of, x);
    x = digest_block(g->in_start, (size_t)(g->n + 1) * sizeof *g->in_start, x);
    x = add_numbers(x, p->cost, (int64_t)g->n * p->n_devices);
    x = add_numbers(x, p->resident_bytes, g->n);
    x = add_numbers(x, p->move_cost, g->n);
    x = digest_block(p->group, (size_t)g->n * sizeof *p->group, x);
    for (int32_t k = 0; k < p->n_places; k++)
        x = add_numbers(x, (int64_t[]){p->place[k].memory_bytes, p->place[k].power}, 2);
    for (int32_t k = 0; k < p->n_places * p->n_places; k++) {
        const struct route *r = &p->route[k];
        x = add_numbers(x, (int64_t[]){r->n_resources, r->latency_cost, r->n_by_node, r->via_host},
                        4);
        x = digest_block(&r->bandwidth, sizeof r->bandwidth, x);
        if (r->n_resources > 0)
            x = digest_block(r->resource, (size_t)r->n_resources * sizeof *r->resource, x);
    }
    return x >> 1; // JSON's integers have a sign
}

static uint64_t objective_identity(const struct place_options *o) {
    bool is_own = o->objective.goal == MCMC_CUSTOM;
    return is_own ? o->objective.identity >> 1 | 4 : (uint64_t)o->objective.goal;
}

// ---- Writing ----

static void add_tasks(struct json_writer *w, const char *key, const struct task *at, int32_t n) {
    json_write_line(w);
    json_write_array(w, key);
    for (int32_t k = 0; k < n; k++) {
        json_write_array(w, NULL);
        json_write_int(w, NULL, at[k].node);
        json_write_int(w, NULL, at[k].place);
        json_write_int(w, NULL, at[k].from);
        json_write_end(w);
    }
    json_write_end(w);
}

static void add_chain(struct json_writer *w, const struct place_search *s, int32_t k,
                      struct arena *scratch) {
    const struct place_chain *ch = &s->chain[k];
    const struct mcmc *c = &ch->mc;
    struct task *now = ARENA_ARRAY(scratch, struct task, c->sim.n_in);
    if (!now) {
        w->out->failed = true;
        return;
    }
    json_write_line(w);
    json_write_object(w, NULL);
    json_write_int(w, "rung", ch->rung);
    json_write_hex(w, "heat", s->temperature[ch->rung]);
    json_write_int(w, "step", (int64_t)c->rng.step);
    json_write_hex(w, "price", c->price.now);
    json_write_hex(w, "first_price", c->price.initial);
    json_write_hex(w, "best_value", c->best_value);
    json_write_int(w, "n_worse", c->n_worse);
    json_write_array(w, "counts");
    for (int32_t m = 0; m < MCMC_KINDS; m++) {
        json_write_array(w, NULL);
        json_write_int(w, NULL, c->count[m].n_tried);
        json_write_int(w, NULL, c->count[m].n_accepted);
        json_write_end(w);
    }
    json_write_end(w);
    add_tasks(w, "tasks", now, sim_save(&c->sim, now));
    json_write_end(w);
}

static void add_head(struct json_writer *w, const struct place_search *s) {
    const struct place_result *r = s->out;
    const struct team *t = s->options->team;
    json_write_int(w, "problem", (int64_t)problem_identity(s->p));
    json_write_int(w, "objective", (int64_t)objective_identity(s->options));
    json_write_int(w, "seed", (int64_t)s->options->seed);
    json_write_int(w, "rank", t ? t->rank : 0);
    json_write_int(w, "n_ranks", t ? t->n : 1);
    json_write_line(w);
    json_write_int(w, "n_proposals", r->n_proposals);
    json_write_int(w, "n_rounds", r->n_rounds);
    json_write_int(w, "n_exchanges", r->n_exchanges);
    json_write_int(w, "n_exchanges_tried", r->n_exchanges_tried);
    json_write_int(w, "step", (int64_t)s->rng.step);
    json_write_hex(w, "value", r->value);
}

status place_save(struct place_search *s) {
    assert(s->options->checkpoint_path);
    struct arena scratch = arena_make(s->arena->mem);
    struct str text = str_make(&scratch);
    struct json_writer w = json_write_document(&text, JSON_WRITE_COMPACT, "mfc-search");
    add_head(&w, s);
    add_tasks(&w, "best", s->out->best.at, s->out->best.n);
    json_write_line(&w);
    json_write_array(&w, "chains");
    bool ok = true;
    for (int32_t k = 0; k < s->n_chains; k++) {
        ok = ok && !s->chain[k].failed;
        if (ok)
            add_chain(&w, s, k, &scratch);
    }
    json_write_end(&w);
    json_write_finish(&w);
    // A chain that is out of memory has no state to save: the previous checkpoint stays.
    status st = ok ? output_text(&scratch, s->diags, s->options->checkpoint_path, &text) : ST_OK;
    arena_free(&scratch);
    return st;
}

// ---- Reading ----

static status malformed(const struct place_search *s, const char *what) {
    return diag_error(s->diags, DIAG_MALFORMED, loc_file(s->options->resume->path), "%s", what);
}

static double real_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? plain_strtod(text, NULL) : 0;
}

struct number {
    const char *key;
    int64_t *to;
};

static status read_tasks(struct place_search *s, struct arena *a, const json_t *list,
                         struct strategy *out) {
    size_t n = json_array_size(list);
    *out = (struct strategy){ARENA_ARRAY(a, struct task, n), (int32_t)n};
    if (!out->at)
        return diag_out_of_memory(s->diags);
    for (size_t k = 0; k < n; k++) {
        int64_t x[3];
        for (size_t e = 0; e < 3; e++)
            if (!json_as_int(json_array_get(json_array_get(list, k), e), &x[e]))
                return malformed(s, "a task is not three integers");
        if (x[0] < 0 || x[0] >= s->p->graph.n || x[1] < 0 || x[1] >= s->p->n_places || x[2] < -1 ||
            x[2] >= s->p->n_places)
            return malformed(s, "a task names a node or place that is not there");
        out->at[k] = (struct task){(int32_t)x[0], (int32_t)x[1], (int32_t)x[2]};
    }
    struct strategy_facts f;
    return n > 0 ? strategy_replay(s->p, out, a, s->diags, &f) : ST_OK;
}

static status read_chain(struct place_search *s, const json_t *object, int32_t k,
                         struct arena *scratch) {
    struct place_chain *ch = &s->chain[k];
    struct mcmc *c = &ch->mc;
    struct loc where = loc_file(s->options->resume->path);
    struct strategy now;
    int64_t rung = -1, step = 0;
    status st = json_get_int(s->diags, where, object, "rung", &rung);
    if (st == ST_OK)
        st = json_get_int(s->diags, where, object, "step", &step);
    if (st == ST_OK)
        st = json_get_int(s->diags, where, object, "n_worse", &c->n_worse);
    if (st == ST_OK)
        st = read_tasks(s, scratch, json_object_get(object, "tasks"), &now);
    if (st != ST_OK)
        return st;
    if (rung < 0 || rung >= s->n_chains || now.n == 0 || !(real_of(object, "heat") > 0))
        return malformed(s, "a chain lacks its rung, its temperature or its tasks");
    ch->rung = (int32_t)rung;
    s->at_rung[rung] = k;
    s->temperature[rung] = real_of(object, "heat");
    c->rng.step = (uint64_t)step;
    c->price.now = real_of(object, "price");
    c->price.initial = real_of(object, "first_price");
    for (size_t m = 0; m < MCMC_KINDS; m++) {
        const json_t *pair = json_array_get(json_object_get(object, "counts"), m);
        json_as_int(json_array_get(pair, 0), &c->count[m].n_tried);
        json_as_int(json_array_get(pair, 1), &c->count[m].n_accepted);
    }
    c->n_best = 0;
    c->best_value = real_of(object, "best_value");
    if (mcmc_start(c, &now))
        return ST_OK;
    return c->sim.broken ? diag_out_of_memory(s->diags)
                         : malformed(s, "the tasks of a chain are not a valid strategy");
}

static status read_numbers(const struct place_search *s, const json_t *root,
                           const struct number *list, size_t n) {
    struct loc where = loc_file(s->options->resume->path);
    status st = ST_OK;
    for (size_t k = 0; st == ST_OK && k < n; k++)
        st = json_get_int(s->diags, where, root, list[k].key, list[k].to);
    return st;
}

// A checkpoint of another problem, objective, seed or team is refused.
static status check_owner(const struct place_search *s, const json_t *root) {
    const struct place_options *o = s->options;
    struct loc where = loc_file(o->resume->path);
    int64_t problem = 0, objective = 0, seed = 0, rank = 0, n_ranks = 0;
    int32_t own_rank = o->team ? o->team->rank : 0, own_ranks = o->team ? o->team->n : 1;
    size_t n_chains = json_array_size(json_object_get(root, "chains"));
    const struct number numbers[] = {{"problem", &problem},
                                     {"objective", &objective},
                                     {"seed", &seed},
                                     {"rank", &rank},
                                     {"n_ranks", &n_ranks}};
    status st = read_numbers(s, root, numbers, sizeof numbers / sizeof *numbers);
    if (st != ST_OK)
        return st;
    if ((uint64_t)problem != problem_identity(s->p))
        return malformed(s, "this is a search on another problem");
    if ((uint64_t)objective != objective_identity(o))
        return malformed(s, "this is a search with another objective");
    if ((uint64_t)seed != o->seed)
        return diag_error(s->diags, DIAG_MALFORMED, where,
                          "this is a search with another seed, %lld; here it is %lld",
                          (long long)seed, (long long)o->seed);
    if (n_ranks != own_ranks || rank != own_rank)
        return diag_error(s->diags, DIAG_MALFORMED, where,
                          "this is the search of rank %lld of %lld; here it is rank %d of %d",
                          (long long)rank, (long long)n_ranks, own_rank, own_ranks);
    if (n_chains != (size_t)s->n_chains)
        return diag_error(s->diags, DIAG_MALFORMED, where,
                          "this is a search with another number of chains, %zu; here it is %d",
                          n_chains, s->n_chains);
    return ST_OK;
}

static status read_search(struct place_search *s, const json_t *root, struct arena *scratch) {
    struct place_result *r = s->out;
    const json_t *chains = json_object_get(root, "chains");
    struct strategy best;
    int64_t step = 0;
    const struct number numbers[] = {{"n_proposals", &r->n_proposals},
                                     {"n_rounds", &r->n_rounds},
                                     {"n_exchanges", &r->n_exchanges},
                                     {"n_exchanges_tried", &r->n_exchanges_tried},
                                     {"step", &step}};
    status st = json_check_format(s->diags, s->options->resume->path, root, "mfc-search");
    if (st == ST_OK)
        st = check_owner(s, root);
    if (st == ST_OK)
        st = read_numbers(s, root, numbers, sizeof numbers / sizeof *numbers);
    if (st != ST_OK)
        return st;
    s->rng.step = (uint64_t)step;
    st = read_tasks(s, scratch, json_object_get(root, "best"), &best);
    if (st == ST_OK && best.n > 0)
        st = place_keep(s, &best, real_of(root, "value"));
    if (st == ST_OK && r->best.n != best.n)
        return malformed(s, "its best strategy is not valid");
    for (int32_t k = 0; st == ST_OK && k < s->n_chains; k++)
        st = read_chain(s, json_array_get(chains, (size_t)k), k, scratch);
    return st;
}

status place_resume(struct place_search *s) {
    assert(s->options->resume);
    struct arena scratch = arena_make(s->arena->mem);
    json_t *root = NULL;
    status st = json_read(&scratch, s->diags, s->options->resume, &root);
    if (st == ST_OK)
        st = read_search(s, root, &scratch);
    json_decref(root);
    arena_free(&scratch);
    return st;
}
