// A lane of the replay: see steer_walk.h. Big items that die are released only at the next request,
// so that they can be held instead.
#include <assert.h>

#include "passes/steer/steer_walk.h"

enum { MANY_MOVES = 2000 }; // of a repair

int64_t steer_address(const struct steer_walk *w, const struct steer_lane *l,
                      const struct ort_chunk *c) {
    return c->at - l->trial.regions.at[c->region].at - w->origin;
}

bool steer_lane_make(struct steer_walk *w, uint32_t number, const struct steer_layout *layout,
                     int64_t height) {
    struct steer_lane *l = &w->lane[number];
    const struct steer_trace *t = &w->lanes->trace[number];
    *l = (struct steer_lane){.t = t,
                             .number = number,
                             .chunk = ARENA_ARRAY(w->a, uint32_t, t->n_items + 1),
                             .trial_chunk = ARENA_ARRAY(w->a, uint32_t, t->n_items + 1),
                             .is_dying = ARENA_ARRAY(w->a, uint32_t, t->n_items + 1)};
    ort_arena_reset(&l->now, w->a);
    return l->chunk && l->trial_chunk && l->is_dying &&
           steer_fit_make(t, layout, height, w->a, &l->fit);
}

void steer_lane_gather(struct steer_lane *l) {
    const struct ort_events *e = l->t->e;
    node_id node = e->buffers.at[e->list.at[l->event].buffer].node;
    while (l->fit.first < l->t->n_big && l->t->items[l->t->big[l->fit.first]].to <= l->event)
        l->fit.first++;
    l->n_requests = 0;
    l->has_big = false;
    for (l->next = l->event; l->next < e->list.n && e->list.at[l->next].is_alloc &&
                             e->buffers.at[e->list.at[l->next].buffer].node.i == node.i;
         l->next++) {
        uint32_t i = e->list.at[l->next].buffer;
        if (!l->t->items[i].in_arena || l->n_requests == STEER_MAX_REQUESTS)
            continue;
        l->requests[l->n_requests++] = i;
        l->has_big |= l->t->items[i].is_big;
    }
}

static bool add_plug(struct steer_walk *w, struct steer_lane *l, uint32_t k) {
    size_t n_regions = l->trial.n_regions;
    l->plug_chunk[k] = ort_arena_alloc(&l->trial, w->plugs[k].n_bytes, false);
    return l->plug_chunk[k] && l->trial.n_regions == n_regions;
}

bool steer_add_plug(struct steer_walk *w, struct steer_lane *l, struct steer_plug plug) {
    if (w->n_plugs == STEER_MAX_PLUGS)
        return false;
    w->plugs[w->n_plugs++] = plug;
    return add_plug(w, l, w->n_plugs - 1);
}

static bool is_held(const struct steer_walk *w, const struct steer_lane *l, uint32_t holds,
                    uint32_t item) {
    for (uint32_t k = 0; k < w->n_dying; k++)
        if (holds >> k & 1 && w->dying[k].item[l->number] == item)
            return true;
    return false;
}

bool steer_lane_act(struct steer_walk *w, struct steer_lane *l, const struct steer_choice *c) {
    if (!ort_arena_copy(&l->trial, &l->now)) {
        w->failed = true;
        return false;
    }
    for (size_t k = 0; k < w->blockers.n && c->frees; k++)
        ort_arena_free(&l->trial, w->blockers.at[k].chunk[l->number]);
    for (size_t k = 0; k < l->dying.n; k++)
        if (!is_held(w, l, c->holds, l->dying.at[k]))
            ort_arena_free(&l->trial, l->chunk[l->dying.at[k]]);
    bool ok = c->carves != l->number + 1 || steer_carve(w, l);
    for (uint32_t k = 0; k < w->n_plugs && ok && c->carves != l->number + 1; k++)
        ok = add_plug(w, l, k);
    for (uint32_t k = 0; k < w->n_plugs && ok; k++)
        if (w->plugs[k].is_brief)
            ort_arena_free(&l->trial, l->plug_chunk[k]);
    return ok;
}

bool steer_lane_place(struct steer_walk *w, struct steer_lane *l, uint32_t max_moves) {
    struct steer_place places[STEER_MAX_REQUESTS];
    size_t n_regions = l->trial.n_regions;
    uint32_t n = 0;
    for (uint32_t k = 0; k < l->n_requests; k++) {
        uint32_t i = l->requests[k];
        l->trial_chunk[i] = ort_arena_alloc(&l->trial, l->t->items[i].n_bytes, false);
        if (!l->trial_chunk[i])
            continue;
        const struct ort_chunk *c = &l->trial.chunks.at[l->trial_chunk[i]];
        bool is_inside = w->is_set_up && c->region == l->region;
        int64_t at = steer_address(w, l, c);
        if (is_inside)
            places[n++] = (struct steer_place){i, at, at + c->n_bytes};
        else if (l->t->items[i].is_big)
            places[n++] = (struct steer_place){i, -1, -1};
    }
    bool same = l->trial.n_regions == n_regions || !w->is_set_up;
    return same && steer_fit_put(&l->fit, places, n, max_moves);
}

void steer_lane_end(struct steer_lane *l, bool keep) {
    steer_fit_end(&l->fit, keep);
    if (!keep)
        return;
    struct ort_arena was = l->now;
    l->now = l->trial;
    l->trial = was;
    for (uint32_t k = 0; k < l->n_requests; k++)
        l->chunk[l->requests[k]] = l->trial_chunk[l->requests[k]];
    while (l->dying.n)
        l->is_dying[l->dying.at[--l->dying.n]] = 0;
    l->event = l->next;
}

static bool release(struct steer_walk *w, struct steer_lane *l, uint32_t i) {
    if (!l->t->items[i].is_big) {
        ort_arena_free(&l->now, l->chunk[i]);
        return true;
    }
    l->is_dying[i] = (uint32_t)l->dying.n + 1;
    w->failed |= !VEC_PUSH(w->a, &l->dying, i);
    return !w->failed;
}

bool steer_lane_run(struct steer_walk *w, struct steer_lane *l, uint32_t event) {
    const struct ort_events *e = l->t->e;
    bool ok = true;
    while (l->event < event && ok) {
        if (!e->list.at[l->event].is_alloc) {
            ok = release(w, l, e->list.at[l->event++].buffer);
            continue;
        }
        steer_lane_gather(l);
        w->n_plugs = 0;
        ok = (w->is_set_up || !l->has_big) && steer_lane_act(w, l, &(struct steer_choice){0}) &&
             steer_lane_place(w, l, MANY_MOVES);
        if (ok)
            steer_lane_end(l, true);
    }
    return ok;
}
