// What is done to all gradients before the update: the loss was scaled up so that small gradients
// of 16 bits are not lost, which is taken back here (--loss-scale); their norm is limited
// (--clip-norm). One number says both how large they are and whether one of them has overflowed:
// the sum of all squares. After an overflow no state changes, except that a dynamic scale is
// halved; it is doubled after 2000 steps without one (as PyTorch's GradScaler).
#include <float.h>
#include <string.h>

#include "passes/update/update.h"

#define GROWTH_STEPS 2000
#define FIRST_SCALE  65536

static bool scales(const struct update *u) {
    return strcmp(options_text(u->c->options, "loss-scale"), "none") != 0;
}

static bool scales_itself(const struct update *u) {
    return strcmp(options_text(u->c->options, "loss-scale"), "dynamic") == 0;
}

static value_id sum_of_squares(struct update *u) {
    value_id total = VALUE_NONE;
    for (size_t i = 0; i < u->pairs.n; i++) {
        value_id g = update_cast(u, u->pairs.at[i].dp, ELEM_F32);
        value_id sum = update_reduce(u, "ReduceSumSquare", g, INT32_MAX);
        total = total.i ? update_add(u, total, sum) : sum;
    }
    return total;
}

void update_measure(struct update *u) {
    bool clips = options_given(u->c->options, "clip-norm");
    u->b.scope = "update/norm";
    u->elem = ELEM_F32;
    if (!u->pairs.n || (!clips && !scales(u)))
        return;
    value_id total = sum_of_squares(u), norm = BUILD(&u->b, "Sqrt", total);
    if (scales(u)) {
        u->factor = update_div(u, update_real(u, 1), update_scalar(u, UPDATE_LOSS_SCALE));
        u->fits = BUILD(&u->b, "LessOrEqual", total, update_real(u, FLT_MAX));
        norm = update_mul(u, norm, u->factor);
    }
    if (clips) {
        double most = options_real(u->c->options, "clip-norm");
        value_id share =
            update_div(u, update_real(u, most), update_add(u, norm, update_real(u, 1e-6)));
        value_id clip = BUILD(&u->b, "Min", share, update_real(u, 1));
        u->factor = u->factor.i ? update_mul(u, u->factor, clip) : clip;
    }
    const char *name = graph_fresh_name(u->g, "grad_norm");
    if (!u->b.failed && (!name || !graph_rename(u->g, norm, name) || !graph_add_output(u->g, norm)))
        u->b.failed = diag_out_of_memory(u->c->diags);
}

void update_next_scale(struct update *u) {
    if (!scales_itself(u) || !u->fits.i)
        return;
    u->b.scope = "update/loss_scale";
    u->elem = ELEM_F32;
    value_id scale = update_scalar(u, UPDATE_LOSS_SCALE);
    value_id n = update_input(u, "good_steps", ELEM_F32, NULL, 0), zero = update_real(u, 0);
    value_id counted = update_add(u, n, update_real(u, 1));
    value_id grows = BUILD(&u->b, "GreaterOrEqual", counted, update_real(u, GROWTH_STEPS));
    value_id larger = BUILD(&u->b, "Where", grows, update_mul(u, scale, update_real(u, 2)), scale);
    value_id left = BUILD(&u->b, "Where", grows, zero, counted);
    value_id smaller = update_mul(u, scale, update_real(u, 0.5)), fits = u->fits;
    str_addf(&u->start, "%d loss_scale\n0 good_steps\n", FIRST_SCALE);
    u->fits = VALUE_NONE; // these two change in any case
    update_publish(u, scale, BUILD(&u->b, "Where", fits, larger, smaller));
    update_publish(u, n, BUILD(&u->b, "Where", fits, left, zero));
    u->fits = fits;
}
