// Shared by the published baselines (baseline.h).
#include "solver/baselines/baseline.h"

#include <string.h>

#include "solver/baselines/articulation.h"

// The forward part ends before the first backward node.
static int32_t known_forward(const struct problem *p) {
    int32_t k = 0;
    while (k < p->n && !p->backward[k])
        k++;
    return k;
}

static status guess_forward(struct solve_run *r, int32_t *n_forward) {
    struct sequence given;
    struct sequence_facts f;
    if (!sequence_given(r->p, r->arena, &given) || !sequence_measure(r->p, given, r->arena, &f))
        return diag_out_of_memory(r->diags);
    *n_forward = f.peak_at + 1;
    diag_note(
        r->diags, DIAG_USAGE, loc_none(),
        "the problem does not say which nodes are the forward pass; taken to be the first %d, "
        "up to the peak of the given order (\"forward\": K in the problem, or --forward)",
        *n_forward);
    return ST_OK;
}

status baseline_open(struct solve_run *r, bool linear, struct baseline *out) {
    *out = (struct baseline){.run = r};
    status st = ST_OK;
    if (r->p->has_forward)
        out->n_forward = known_forward(r->p);
    else
        st = guess_forward(r, &out->n_forward);
    if (st != ST_OK)
        return st;
    if (out->n_forward == 0)
        return diag_error(r->diags, DIAG_UNSUPPORTED, loc_none(),
                          "this method needs a forward pass, and the problem has none");
    out->may_end = ARENA_ARRAY(r->arena, bool, out->n_forward);
    out->candidates = ARENA_ARRAY(r->arena, int32_t, out->n_forward);
    if (!out->may_end || !out->candidates)
        return diag_out_of_memory(r->diags);
    if (linear)
        memset(out->may_end, true, (size_t)out->n_forward * sizeof *out->may_end);
    else if (!articulation_points(r->p, out->n_forward, r->arena, out->may_end))
        return diag_out_of_memory(r->diags);
    for (int32_t i = 0; i < out->n_forward; i++)
        if (out->may_end[i])
            out->candidates[out->n_candidates++] = i;
    return ST_OK;
}

status baseline_try(struct baseline *b, const bool *ends, enum baseline_plan plan, int32_t states) {
    static const struct reversal_style styles[] = {{false, REVERSAL_LATE},
                                                   {false, REVERSAL_SOON},
                                                   {true, REVERSAL_LATE},
                                                   {true, REVERSAL_SOON}};
    struct solve_run *run = b->run;
    for (size_t k = 0; k < sizeof styles / sizeof *styles && !stop_now(run->stop); k++) {
        struct arena a = arena_make(run->arena->mem);
        struct reversal r;
        struct sequence s;
        bool ok = reversal_make(run->p, &a, b->n_forward, ends, styles[k], &r);
        if (ok) {
            if (plan == BASELINE_BINOMIAL)
                reversal_binomial(&r, states);
            else
                reversal_multilevel(&r, states);
            if (reversal_finish(&r, &s))
                solve_offer(run, s, 'B');
            ok = !r.out_of_memory;
        }
        arena_free(&a);
        if (!ok)
            return diag_out_of_memory(run->diags);
    }
    return ST_OK;
}
