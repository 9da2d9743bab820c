// Polishing during a placement search: see place_state.h. The rematerialization solver improves the
// incumbent, or without one the state with the least excess, device by device (place_polish.h); the
// coldest chain continues from the result.
#include "solver/place/place_polish.h"
#include "solver/place/place_state.h"

enum { WORK_DURING = 2, WORK_AT_END = 10 };
#define GAP_DURING 0.02
#define GAP_AT_END 0.001

bool place_improves(const struct place_search *s) {
    return s->options->allowed.recompute && s->p->has_sizes;
}

static const struct place_chain *min_excess(const struct place_search *s) {
    const struct place_chain *best = NULL;
    for (int32_t k = 0; k < s->n_chains; k++) {
        const struct place_chain *ch = &s->chain[k];
        if (!ch->failed && (!best || ch->mc.excess_bytes < best->mc.excess_bytes))
            best = ch;
    }
    return best;
}

status place_improve(struct place_search *s, double seconds, bool is_end) {
    const struct place_chain *from = min_excess(s);
    struct place_chain *to = &s->chain[s->at_rung[0]];
    if (!place_improves(s) || !from || to->failed)
        return ST_OK;
    struct arena scratch = arena_make(s->arena->mem);
    struct strategy now = s->out->best, polished = {0};
    if (now.n == 0) {
        now = (struct strategy){ARENA_ARRAY(&scratch, struct task, from->mc.sim.n_in), 0};
        if (now.at)
            now.n = sim_save(&from->mc.sim, now.at);
    }
    struct polish_effort effort = {.stop = s->stop,
                                   .seconds = seconds,
                                   .gap = is_end ? GAP_AT_END : GAP_DURING,
                                   .seed =
                                       s->options->seed + (is_end ? 0 : (uint64_t)s->out->n_rounds),
                                   .worker_path = s->options->worker_path};
    if (seconds <= 0 || s->options->work > 0) // the result must not depend on the clock
        effort.work_per_node = is_end ? WORK_AT_END : WORK_DURING;
    status st = now.n > 0
                    ? place_polish(s->p, &s->options->objective, &effort, now, &scratch, &polished)
                    : ST_LIMIT;
    if (polished.n > 0)
        place_start_chain(s, to, &polished);
    arena_free(&scratch);
    return st ? diag_out_of_memory(s->diags) : ST_OK;
}
