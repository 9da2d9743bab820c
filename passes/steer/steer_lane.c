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

// The requests of the node of an event, and the event after them.
static uint32_t gather_node(struct steer_lane *l, uint32_t event) {
    const struct ort_events *e = l->t->e;
    node_id node = e->buffers.at[e->list.at[event].buffer].node;
    l->n_requests = 0;
    l->has_big = false;
    for (; event < e->list.n && e->list.at[event].is_alloc &&
           e->buffers.at[e->list.at[event].buffer].node.i == node.i;
         event++) {
        uint32_t i = e->list.at[event].buffer;
        if (!l->t->items[i].in_arena || l->n_requests == STEER_MAX_REQUESTS)
            continue;
        l->requests[l->n_requests++] = i;
        l->has_big |= l->t->items[i].is_big;
    }
    return event;
}

void steer_lane_gather(struct steer_lane *l, uint32_t end) {
    const struct ort_events *e = l->t->e;
    while (l->fit.first < l->t->n_big && l->t->items[l->t->big[l->fit.first]].to <= l->event)
        l->fit.first++;
    l->next = gather_node(l, l->event);
    uint32_t n = l->n_requests;
    for (uint32_t i = l->next; i < end && n < STEER_MAX_PLACES; i++) {
        n += e->list.at[i].is_alloc;
        if (e->list.at[i].is_alloc)
            l->next = i + 1;
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

// Where an item is in the trial.
static uint32_t chunk_of(const struct steer_lane *l, uint32_t i) {
    return l->t->items[i].from >= l->event ? l->trial_chunk[i] : l->chunk[i];
}

// A request in the trial arena; it is added to `places` if the layout has to know.
static uint32_t request(const struct steer_walk *w, struct steer_lane *l, uint32_t i,
                        struct steer_place *place) {
    l->trial_chunk[i] = 0;
    if (!l->t->items[i].in_arena)
        return 0;
    l->trial_chunk[i] = ort_arena_alloc(&l->trial, l->t->items[i].n_bytes, false);
    if (!l->trial_chunk[i])
        return 0;
    const struct ort_chunk *c = &l->trial.chunks.at[l->trial_chunk[i]];
    int64_t at = steer_address(w, l, c);
    bool is_inside = w->is_set_up && c->region == l->region;
    *place =
        is_inside ? (struct steer_place){i, at, at + c->n_bytes} : (struct steer_place){i, -1, -1};
    return is_inside || l->t->items[i].is_big;
}

bool steer_lane_place(struct steer_walk *w, struct steer_lane *l, uint32_t max_moves) {
    struct steer_place places[STEER_MAX_PLACES + STEER_MAX_REQUESTS];
    const struct ort_events *e = l->t->e;
    size_t n_regions = l->trial.n_regions;
    uint32_t n = 0;
    for (uint32_t k = l->event; k < l->next; k++) {
        uint32_t i = e->list.at[k].buffer;
        assert(n < sizeof places / sizeof *places);
        if (e->list.at[k].is_alloc)
            n += request(w, l, i, &places[n]);
        else
            ort_arena_free(&l->trial, chunk_of(l, i));
    }
    bool same = l->trial.n_regions == n_regions || !w->is_set_up;
    return same && steer_fit_put(&l->fit, places, n, max_moves);
}

void steer_lane_end(struct steer_lane *l, bool keep) {
    const struct ort_events *e = l->t->e;
    steer_fit_end(&l->fit, keep);
    if (!keep)
        return;
    struct ort_arena was = l->now;
    l->now = l->trial;
    l->trial = was;
    for (uint32_t k = l->event; k < l->next; k++)
        if (e->list.at[k].is_alloc)
            l->chunk[e->list.at[k].buffer] = l->trial_chunk[e->list.at[k].buffer];
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
        steer_lane_gather(l, l->event);
        w->n_plugs = 0;
        ok = (w->is_set_up || !l->has_big) && steer_lane_act(w, l, &(struct steer_choice){0}) &&
             steer_lane_place(w, l, MANY_MOVES);
        if (ok)
            steer_lane_end(l, true);
    }
    return ok;
}
