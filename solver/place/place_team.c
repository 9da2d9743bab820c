// The searches of a team meet every few rounds. At a meeting every rank exchanges a report with
// every other: what it has done, its incumbent if the others do not know it, and for its partner of
// this meeting the state of one chain. Then every rank takes over the best incumbent, and partners
// exchange the two states by the same rule as chains of one search do (replica exchange), on random
// numbers that both draw: so both reach the same decision without a further message.
//
// Nothing depends on when messages arrive: the same seed, work and number of ranks give the same
// strategy. A signal to one rank ends all of them at the next meeting. A rank whose search fails
// leaves between two meetings, and the others go on.
#include <assert.h>
#include <string.h>

#include "solver/place/place_state.h"

enum { NO_PARTNER = -1, PAIR_STREAM = 1 << 30 };

// A message: this, the tasks of the incumbent if the others do not know it, the tasks of the chain.
struct peer_report {
    int64_t n_meetings;
    struct place_totals done;
    double value;             // of the incumbent
    double temperature, cost; // of the chain that is offered
    int32_t n_best, n_offered;
    int32_t stop_reason; // 0: none
    int8_t is_over, is_saving;
};

status place_team_make(struct place_search *s) {
    const struct team *t = s->options->team;
    assert(t->n >= 1 && t->rank >= 0 && t->rank < t->n);
    s->peer = ARENA_ARRAY(s->arena, struct place_peer, t->n);
    s->told_value = s->out->value;
    if (s->work > 0) {
        s->work = s->work / t->n + (t->rank < s->work % t->n);
        s->work = s->work > 0 ? s->work : 1;
    }
    return s->peer ? ST_OK : diag_out_of_memory(s->diags);
}

int64_t place_team_proposals(const struct place_search *s) {
    int64_t sum = s->out->n_proposals;
    for (int32_t k = 0; s->options->team && k < s->options->team->n; k++)
        sum += s->peer[k].done.n_proposals;
    return sum;
}

// ---- Pairs of replica exchange ----

struct pairing {
    int32_t partner, rung; // of this rank
    double unit;           // the same for both
};

// All ranks draw the same numbers for all pairs. One of the two offers a chain whose
// temperature is one rung higher.
static struct pairing pair_up(const struct place_search *s) {
    const struct team *t = s->options->team;
    struct pairing own = {.partner = NO_PARTNER};
    int64_t turn = s->out->n_rounds / PLACE_MEET_EVERY;
    struct rng rng = rng_make(s->options->seed, (uint64_t)(PAIR_STREAM + turn));
    for (int32_t low = (int32_t)(turn % 2); low + 1 < t->n; low += 2) {
        int32_t higher = low + (int32_t)rng_below(&rng, 2), rung = 0;
        if (s->n_chains > 1)
            rung = (int32_t)rng_below(&rng, (uint64_t)s->n_chains - 1);
        double unit = rng_unit(&rng);
        if (t->rank == low || t->rank == low + 1)
            own = (struct pairing){.partner = t->rank == low ? low + 1 : low,
                                   .rung = rung + (t->rank == higher && s->n_chains > 1),
                                   .unit = unit};
    }
    return own;
}

// By the same rule on both sides; the chain goes on from the partner's state.
static void exchange_states(struct place_search *s, const struct pairing *pair,
                            struct place_chain *own, const struct peer_report *theirs,
                            const struct strategy *offered) {
    s->out->n_exchanges_tried++;
    if (!place_swaps(s->temperature[pair->rung], mcmc_cost(&own->mc), theirs->temperature,
                     theirs->cost, pair->unit))
        return;
    place_start_chain(s, own, offered);
    s->out->n_exchanges++;
}

// ---- Messages ----

// What this rank has to say at a meeting, and to whom.
struct meeting {
    struct peer_report report;
    struct pairing pair;
    struct place_chain *offered; // to the partner; NULL: none
    struct task *tasks;          // of the incumbent, then of the offered chain
    char *message;
    struct arena scratch;
};

static bool prepare(struct place_search *s, bool is_over, struct meeting *m) {
    struct peer_report *r = &m->report;
    memset(m, 0, sizeof *m); // the padding is sent, too
    m->scratch = arena_make(s->arena->mem);
    m->pair = pair_up(s);
    if (!is_over && s->options->exchange && m->pair.partner != NO_PARTNER)
        m->offered = &s->chain[s->at_rung[m->pair.rung]];
    if (m->offered && m->offered->failed)
        m->offered = NULL;
    r->n_meetings = s->n_meetings;
    r->done = place_own_totals(s);
    r->value = s->out->value;
    r->is_over = is_over;
    r->is_saving = s->is_saving;
    r->stop_reason = stop_reason(s->stop);
    r->n_best = s->out->value < s->told_value ? s->out->best.n : 0;
    size_t n_tasks = (size_t)r->n_best + (m->offered ? (size_t)m->offered->mc.sim.n_in : 0);
    m->tasks = ARENA_ARRAY(&m->scratch, struct task, n_tasks);
    m->message = arena_alloc(&m->scratch, sizeof *r + n_tasks * sizeof *m->tasks);
    if (!m->tasks || !m->message)
        return false;
    if (r->n_best > 0)
        memcpy(m->tasks, s->out->best.at, (size_t)r->n_best * sizeof *m->tasks);
    if (m->offered) {
        r->n_offered = sim_save(&m->offered->mc.sim, m->tasks + r->n_best);
        r->temperature = s->temperature[m->offered->rung];
        r->cost = mcmc_cost(&m->offered->mc);
    }
    return true;
}

// False: the peer has left. The tasks that it sent are in the arena.
static bool exchange_reports(const struct place_search *s, struct meeting *m, int32_t peer,
                             struct peer_report *theirs, struct strategy *best,
                             struct strategy *offered) {
    const struct team *t = s->options->team;
    struct peer_report r = m->report;
    if (peer != m->pair.partner)
        r.n_offered = 0;
    size_t n_bytes = ((size_t)r.n_best + (size_t)r.n_offered) * sizeof *m->tasks;
    memcpy(m->message, &r, sizeof r);
    memcpy(m->message + sizeof r, m->tasks, n_bytes);
    const char *message = t->exchange(t->context, peer, m->message, sizeof r + n_bytes, &n_bytes);
    if (!message || n_bytes < sizeof *theirs)
        return false;
    memcpy(theirs, message, sizeof *theirs);
    size_t n_tasks = (n_bytes - sizeof *theirs) / sizeof(struct task);
    if (theirs->n_meetings != s->n_meetings || theirs->n_best < 0 || theirs->n_offered < 0 ||
        (size_t)theirs->n_best + (size_t)theirs->n_offered > n_tasks)
        return false;
    struct task *tasks = arena_copy(&m->scratch, message + sizeof *theirs, n_tasks * sizeof *tasks);
    *best = (struct strategy){tasks, tasks ? theirs->n_best : 0};
    *offered =
        (struct strategy){tasks ? tasks + theirs->n_best : NULL, tasks ? theirs->n_offered : 0};
    return true;
}

// ---- Meetings ----

static status meet(struct place_search *s, struct meeting *m) {
    const struct team *t = s->options->team;
    struct strategy best = {0};
    double value = s->out->value;
    s->told_value = value;
    s->all_over = m->report.is_over;
    for (int32_t k = 0; k < t->n; k++) {
        struct place_peer *peer = &s->peer[k];
        struct peer_report r;
        struct strategy theirs, offered;
        if (k == t->rank || peer->has_left)
            continue;
        peer->has_left = !exchange_reports(s, m, k, &r, &theirs, &offered);
        if (peer->has_left)
            continue;
        peer->done = r.done;
        s->all_over = s->all_over && r.is_over;
        s->is_saving = s->is_saving || r.is_saving;
        if (r.stop_reason && !stop_raised(s->stop))
            stop_raise(s->caller_stop, r.stop_reason);
        if (theirs.n > 0 && r.value < value) {
            best = theirs;
            value = r.value;
        }
        if (k == m->pair.partner && m->offered && offered.n > 0)
            exchange_states(s, &m->pair, m->offered, &r, &offered);
    }
    s->n_meetings++;
    return best.n > 0 ? place_keep(s, &best, value) : ST_OK;
}

status place_team_meet(struct place_search *s, bool is_over) {
    struct meeting m;
    status st = prepare(s, is_over, &m) ? meet(s, &m) : diag_out_of_memory(s->diags);
    arena_free(&m.scratch);
    return st;
}
