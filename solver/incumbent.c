// The incumbent: schedules that methods offer are checked, compared, kept and reported here. A
// schedule that the checker accepted refutes bounds: a bound above its cost, or a "proof" that its
// budget is infeasible, is dropped (MIP solvers in floating point have been seen to claim both).
// Bounds proven in integers stay.
#include "solver/incumbent.h"

#include "solver/check/schedule_check.h"

void incumbent_open(struct incumbent *b, struct mem *mem, const struct solve_hooks *hooks,
                    bool free_order, int64_t base_cost) {
    *b = (struct incumbent){.hooks = hooks,
                            .free_order = free_order,
                            .start_ns = stop_clock_ns(),
                            .keep = {arena_make(mem), arena_make(mem)},
                            .lists = arena_make(mem),
                            .cost = INT64_MAX,
                            .bound_any = base_cost,
                            .bound_given = base_cost,
                            .exact_any = base_cost,
                            .exact_given = base_cost,
                            .known_bytes = INT64_MAX};
    pthread_mutex_init(&b->lock, NULL);
}

void incumbent_close(struct incumbent *b) {
    pthread_mutex_destroy(&b->lock);
    arena_free(&b->keep[0]);
    arena_free(&b->keep[1]);
    arena_free(&b->lists);
}

double solve_seconds(const struct solve_run *r) {
    return (double)(stop_clock_ns() - r->best->start_ns) * 1e-9;
}

// ---- With the lock held ----

static int64_t bound_now(const struct incumbent *b, bool free_order) {
    bool given = !free_order && b->bound_given > b->bound_any;
    return given ? b->bound_given : b->bound_any;
}

static void report_progress(struct solve_run *r, char letter) {
    const struct incumbent *b = r->best;
    if (!b->hooks->progress)
        return;
    struct solve_event e = {letter, b->cost, bound_now(b, b->free_order), b->peak_bytes,
                            solve_seconds(r)};
    b->hooks->progress(b->hooks->context, &e);
}

void incumbent_report(const struct solve_run *r, struct schedule *out) {
    const struct incumbent *b = r->best;
    *out = (struct schedule){.free_order = b->free_order,
                             .budget_bytes = r->options->budget_bytes,
                             .base_cost = r->base_cost,
                             .bound = bound_now(b, b->free_order),
                             .bound_any = b->bound_any,
                             .min_bytes = b->min_bytes,
                             .known_bytes = b->known_bytes == INT64_MAX ? 0 : b->known_bytes,
                             .n_refused = b->n_refused};
    bool in_given_order = b->cost == INT64_MAX || b->given_order; // or no order at all
    if (in_given_order && b->bound_given > out->bound)
        out->bound = b->bound_given;
    if (b->cost == INT64_MAX) {
        bool never = b->min_bytes > out->budget_bytes;
        out->outcome = never ? OUTCOME_INFEASIBLE : OUTCOME_UNKNOWN;
        out->forcing = b->forcing;
        out->n_forcing = b->n_forcing;
        return;
    }
    out->steps = b->steps;
    out->cost = b->cost;
    out->peak_bytes = b->peak_bytes;
    int64_t proof = out->free_order ? out->bound_any : out->bound;
    out->outcome = proof == out->cost ? OUTCOME_OPTIMAL : OUTCOME_FEASIBLE;
}

// Falls back from every bound that an accepted schedule refutes to the one proven in integers.
static void drop_refuted_bounds(struct solve_run *r, const struct replay *replay) {
    struct incumbent *b = r->best;
    if (replay->peak_bytes < b->known_bytes)
        b->known_bytes = replay->peak_bytes;
    if (replay->peak_bytes < b->min_bytes) {
        bool is_wrong = replay->peak_bytes < b->exact_min_bytes;
        b->min_bytes = is_wrong ? r->floor_bytes : b->exact_min_bytes;
        b->exact_min_bytes = b->min_bytes;
        b->n_refuted++;
    }
    if (replay->peak_bytes > r->options->budget_bytes)
        return;
    if (replay->cost < b->bound_any) {
        b->exact_any = replay->cost < b->exact_any ? r->base_cost : b->exact_any;
        b->bound_any = b->exact_any;
        b->n_refuted++;
    }
    if (replay->given_order && replay->cost < b->bound_given) {
        b->exact_given = replay->cost < b->exact_given ? r->base_cost : b->exact_given;
        b->bound_given = b->exact_given;
        b->n_refuted++;
    }
}

static bool better(const struct solve_run *r, const struct replay *replay) {
    const struct incumbent *b = r->best;
    if (replay->peak_bytes > r->options->budget_bytes)
        return false;
    if (!r->options->free_order && !replay->given_order)
        return false;
    if (replay->cost != b->cost)
        return replay->cost < b->cost;
    return replay->peak_bytes < b->peak_bytes;
}

// Copies into the arena that is not in use; the old steps go only when the new ones are there.
static bool take(struct solve_run *r, struct steps s, const struct replay *replay, char letter) {
    struct incumbent *b = r->best;
    struct arena *to = &b->keep[1 - b->which];
    arena_free(to);
    struct steps copy = {arena_copy(to, s.at, (size_t)s.n * sizeof *s.at), s.n};
    if (!copy.at)
        return false;
    drop_refuted_bounds(r, replay);
    bool cheaper = replay->cost < b->cost;
    b->which = 1 - b->which;
    b->steps = copy;
    b->cost = replay->cost;
    b->peak_bytes = replay->peak_bytes;
    b->given_order = replay->given_order;
    if (cheaper)
        report_progress(r, letter);
    if (b->hooks->improved) {
        struct schedule now;
        incumbent_report(r, &now);
        b->hooks->improved(b->hooks->context, &now);
    }
    return true;
}

// ---- For methods, from any thread ----

bool solve_offer_steps(struct solve_run *r, struct steps s, char letter) {
    struct arena scratch = arena_make(r->arena->mem);
    struct diags unheard = diags_make(&scratch);
    struct replay replay;
    bool taken = false;
    status st = schedule_check_steps(r->p, s, &scratch, &unheard, &replay);
    pthread_mutex_lock(&r->best->lock);
    if (st == ST_OK) {
        if (replay.failed_step >= 0) {
            r->best->n_refused++;
        } else if (better(r, &replay)) {
            taken = take(r, s, &replay, letter);
            r->best->lacked_memory |= !taken;
        } else if (replay.given_order || r->options->free_order) {
            drop_refuted_bounds(r, &replay);
        }
    }
    r->best->lacked_memory |= st == ST_LIMIT;
    pthread_mutex_unlock(&r->best->lock);
    arena_free(&scratch);
    return taken;
}

bool solve_offer(struct solve_run *r, struct sequence s, char letter) {
    struct arena scratch = arena_make(r->arena->mem);
    struct steps steps;
    bool has_steps = sequence_to_steps(r->p, s, &scratch, &steps);
    bool taken = has_steps && solve_offer_steps(r, steps, letter);
    pthread_mutex_lock(&r->best->lock);
    r->best->lacked_memory |= !has_steps;
    pthread_mutex_unlock(&r->best->lock);
    arena_free(&scratch);
    return taken;
}

// Raises a bound, unless the incumbent refutes it, and tells when that is news.
static void raise_bound(struct solve_run *r, int64_t *bound, int64_t to, bool applies,
                        char letter) {
    struct incumbent *b = r->best;
    if (applies && to > b->cost) {
        b->n_refuted++;
        return;
    }
    int64_t before = bound_now(b, b->free_order);
    if (to > *bound)
        *bound = to;
    if (bound_now(b, b->free_order) > before)
        report_progress(r, letter);
}

void solve_bound_any(struct solve_run *r, int64_t bound, char letter) {
    pthread_mutex_lock(&r->best->lock);
    raise_bound(r, &r->best->bound_any, bound, true, letter);
    pthread_mutex_unlock(&r->best->lock);
}

void solve_bound_given(struct solve_run *r, int64_t bound, char letter) {
    pthread_mutex_lock(&r->best->lock);
    raise_bound(r, &r->best->bound_given, bound, r->best->given_order, letter);
    pthread_mutex_unlock(&r->best->lock);
}

void solve_bound_exact(struct solve_run *r, bool any_order, int64_t bound, char letter) {
    struct incumbent *b = r->best;
    pthread_mutex_lock(&b->lock);
    int64_t *exact = any_order ? &b->exact_any : &b->exact_given;
    bool applies = any_order || b->given_order;
    if (bound > *exact && !(applies && bound > b->cost))
        *exact = bound;
    raise_bound(r, any_order ? &b->bound_any : &b->bound_given, bound, applies, letter);
    pthread_mutex_unlock(&b->lock);
}

void solve_infeasible(struct solve_run *r, bool any_order, bool exact, int64_t min_bytes,
                      const int32_t *nodes, int32_t n_nodes) {
    struct incumbent *b = r->best;
    pthread_mutex_lock(&b->lock);
    if (min_bytes > b->known_bytes) {
        b->n_refuted++;
    } else if ((any_order || !b->free_order) && min_bytes > b->min_bytes) {
        b->min_bytes = min_bytes;
        b->exact_min_bytes = exact ? min_bytes : b->exact_min_bytes;
        b->forcing = arena_copy(&b->lists, nodes, (size_t)n_nodes * sizeof *nodes);
        b->n_forcing = b->forcing ? n_nodes : 0;
    }
    pthread_mutex_unlock(&b->lock);
}

bool solve_incumbent(struct solve_run *r, struct arena *a, struct sequence *out) {
    pthread_mutex_lock(&r->best->lock);
    bool ok = r->best->cost != INT64_MAX && sequence_of_steps(r->best->steps, a, out);
    pthread_mutex_unlock(&r->best->lock);
    return ok;
}

int64_t solve_best_cost(struct solve_run *r) {
    pthread_mutex_lock(&r->best->lock);
    int64_t cost = r->best->cost;
    pthread_mutex_unlock(&r->best->lock);
    return cost;
}

int64_t solve_best_bound(struct solve_run *r) {
    pthread_mutex_lock(&r->best->lock);
    int64_t bound = bound_now(r->best, r->options->free_order);
    pthread_mutex_unlock(&r->best->lock);
    return bound;
}

// With the lock held. With a target nothing but the target counts, and whether it can be reached.
static bool settled(const struct solve_run *r) {
    const struct incumbent *b = r->best;
    const struct solve_options *o = r->options;
    int64_t bound = bound_now(b, o->free_order);
    if (b->cost == INT64_MAX && b->min_bytes > o->budget_bytes)
        return true;
    if (o->target_cost >= 0)
        return b->cost <= o->target_cost || bound > o->target_cost;
    if (b->cost == INT64_MAX)
        return false;
    return b->cost == bound || (double)(b->cost - bound) <= o->gap * (double)b->cost;
}

bool solve_settled(struct solve_run *r) {
    pthread_mutex_lock(&r->best->lock);
    bool done = settled(r);
    pthread_mutex_unlock(&r->best->lock);
    return done;
}

bool solve_over(struct solve_run *r) {
    return stop_now(r->stop) || solve_settled(r);
}
