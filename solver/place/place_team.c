// Searches of a team meet. Everybody sends everybody what he has found, and to his partner of this
// meeting the state of one chain, too. Then everybody takes over the best; and partners exchange
// the two states, by the same rule as chains of one search do, on random numbers that both have:
// so they come to the same verdict without a word.
//
// Whoever does not answer is lost: the others go on without him. Nothing else depends on when
// messages arrive, so a team whose members all live finds the same strategy every time.
#include <string.h>

#include "solver/place/place_state.h"

enum { NOBODY = -1, PAIR_STREAM = 1 << 30 };

// A message: this, the tasks of the best if the others do not know it, the tasks of the chain.
struct report {
    int64_t n_meetings;
    struct place_totals done;
    double value;      // of the best
    double heat, cost; // of the chain that is offered
    int32_t n_best, n_offered;
    int8_t is_over, is_leaving, is_saving;
};

status place_team_make(struct place_search *s) {
    const struct team *t = s->options->team;
    s->mate = ARENA_ARRAY(s->arena, struct place_mate, t->n);
    s->told_value = s->out->value;
    if (s->work > 0) {
        s->work = s->work / t->n + (t->rank < s->work % t->n);
        s->work = s->work > 0 ? s->work : 1;
    }
    return s->mate ? ST_OK : diag_out_of_memory(s->diags);
}

int64_t place_team_proposals(const struct place_search *s) {
    int64_t sum = s->out->n_proposals;
    for (int32_t k = 0; s->options->team && k < s->options->team->n; k++)
        sum += s->mate[k].done.n_proposals;
    return sum;
}

// ---- Who exchanges what ----

struct pairing {
    int32_t partner, rung; // of this member
    double unit;           // the same for both
};

// All members draw the same numbers for all pairs. One of the two gives a chain that is a rung
// hotter than the other's.
static struct pairing pair_up(const struct place_search *s) {
    const struct team *t = s->options->team;
    struct pairing own = {.partner = NOBODY};
    int64_t turn = s->out->n_rounds / PLACE_MEET_EVERY;
    struct rng rng = rng_make(s->options->seed, (uint64_t)(PAIR_STREAM + turn));
    for (int32_t low = (int32_t)(turn % 2); low + 1 < t->n; low += 2) {
        int32_t hotter = low + (int32_t)rng_below(&rng, 2), rung = 0;
        if (s->n_chains > 1)
            rung = (int32_t)rng_below(&rng, (uint64_t)s->n_chains - 1);
        double unit = rng_unit(&rng);
        if (t->rank == low || t->rank == low + 1)
            own = (struct pairing){.partner = t->rank == low ? low + 1 : low,
                                   .rung = rung + (t->rank == hotter && s->n_chains > 1),
                                   .unit = unit};
    }
    return own;
}

// By the same rule on both sides; the chain goes on from the other's state.
static void exchange(struct place_search *s, const struct pairing *pair, struct place_chain *own,
                     const struct report *theirs, const struct strategy *offered) {
    s->out->n_exchanges_tried++;
    if (!place_swaps(s->temperature[pair->rung], mcmc_cost(&own->mc), theirs->heat, theirs->cost,
                     pair->unit))
        return;
    own->failed = !mcmc_start(&own->mc, offered);
    s->out->n_exchanges++;
}

// ---- Messages ----

static void send_report(struct place_search *s, int32_t to, struct report r,
                        const struct place_chain *offered) {
    const struct team *t = s->options->team;
    struct arena scratch = arena_make(s->arena->mem);
    size_t n_best = s->out->value < s->told_value ? (size_t)s->out->best.n : 0;
    size_t n_offered = offered ? (size_t)offered->mc.sim.n_in : 0;
    size_t n_bytes = sizeof r + (n_best + n_offered) * sizeof(struct task);
    char *message = arena_alloc(&scratch, n_bytes);
    struct task *tasks = ARENA_ARRAY(&scratch, struct task, n_best + n_offered);
    if (message && tasks) { // else the others do without
        if (n_best > 0)
            memcpy(tasks, s->out->best.at, n_best * sizeof *tasks);
        r.n_best = (int32_t)n_best;
        if (offered) {
            r.n_offered = sim_save(&offered->mc.sim, tasks + n_best);
            r.heat = s->temperature[offered->rung];
            r.cost = mcmc_cost(&offered->mc);
        }
        memcpy(message, &r, sizeof r);
        memcpy(message + sizeof r, tasks, (n_best + n_offered) * sizeof *tasks);
        t->send(t->context, to, message, n_bytes);
    }
    arena_free(&scratch);
}

static struct report make_report(const struct place_search *s) {
    struct report r;
    memset(&r, 0, sizeof r); // padding, too, goes to others
    r.n_meetings = s->n_meetings;
    r.done = place_own_totals(s);
    r.value = s->out->value;
    r.is_saving = s->is_saving;
    return r;
}

// False: the member is lost. The tasks are in `a`.
static bool receive_report(const struct place_search *s, int32_t from, struct arena *a,
                           struct report *r, struct strategy *best, struct strategy *offered) {
    const struct team *t = s->options->team;
    size_t n_bytes = 0;
    const char *message = t->receive(t->context, from, &n_bytes);
    if (!message || n_bytes < sizeof *r)
        return false;
    memcpy(r, message, sizeof *r);
    size_t n_tasks = (n_bytes - sizeof *r) / sizeof(struct task);
    if ((r->n_meetings != s->n_meetings && !r->is_leaving) || r->n_best < 0 || r->n_offered < 0 ||
        (size_t)r->n_best + (size_t)r->n_offered > n_tasks)
        return false;
    struct task *tasks = arena_copy(a, message + sizeof *r, n_tasks * sizeof *tasks);
    *best = (struct strategy){tasks, tasks ? r->n_best : 0};
    *offered = (struct strategy){tasks ? tasks + r->n_best : NULL, tasks ? r->n_offered : 0};
    return true;
}

// ---- Meetings ----

static void send_all(struct place_search *s, const struct report *r, int32_t partner,
                     const struct place_chain *offered) {
    const struct team *t = s->options->team;
    for (int32_t to = 0; to < t->n; to++)
        if (to != t->rank && !s->mate[to].has_left)
            send_report(s, to, *r, to == partner ? offered : NULL);
}

status place_team_meet(struct place_search *s, bool is_over) {
    const struct team *t = s->options->team;
    struct pairing pair = pair_up(s);
    struct place_chain *own = pair.partner == NOBODY ? NULL : &s->chain[s->at_rung[pair.rung]];
    if (is_over || !s->options->exchange || (own && own->failed))
        own = NULL; // a search that is over exchanges nothing: it can be resumed as it is
    struct arena scratch = arena_make(s->arena->mem);
    struct strategy best = {0};
    double value = s->out->value;
    struct report mine = make_report(s);
    mine.is_over = is_over;
    send_all(s, &mine, pair.partner, own);
    s->told_value = value;
    s->all_over = is_over;
    for (int32_t from = 0; from < t->n; from++) {
        struct place_mate *mate = &s->mate[from];
        struct report r;
        struct strategy theirs, offered;
        if (from == t->rank || mate->has_left)
            continue;
        mate->is_lost = !receive_report(s, from, &scratch, &r, &theirs, &offered);
        mate->has_left = mate->is_lost || r.is_leaving;
        // Others may have got the last words of one who is lost, and will pass them on.
        s->all_over = s->all_over && !mate->is_lost && r.is_over;
        if (mate->is_lost)
            continue;
        mate->done = r.done;
        s->is_saving = s->is_saving || r.is_saving;
        if (theirs.n > 0 && r.value < value) {
            best = theirs;
            value = r.value;
        }
        if (from == pair.partner && own && offered.n > 0)
            exchange(s, &pair, own, &r, &offered);
    }
    s->n_meetings++;
    status st = best.n > 0 ? place_keep(s, &best, value) : ST_OK;
    arena_free(&scratch);
    return st;
}

void place_team_leave(struct place_search *s) {
    struct report r = make_report(s);
    r.is_over = r.is_leaving = true;
    if (s->mate)
        send_all(s, &r, NOBODY, NULL);
}
