// A layout of the big items of a step within a height, kept valid while the items get their real
// addresses one after the other. An item that is placed elsewhere than planned pushes others aside;
// these find new places, and may push others in turn.
#pragma once

#include "ir/base/diag.h"
#include "passes/steer/steer_trace.h"

struct steer_place {
    uint32_t item;
    int64_t at, end; // from the bottom of the layout; at < 0: outside of it
};

struct steer_undo {
    uint32_t item;
    int64_t at, end;
};

// An end of a placed item, in sorted order, with sums over all ends before it.
struct steer_edge {
    int64_t at;
    double weight;
    uint32_t n_fixed;
};

struct steer_fit {
    const struct steer_trace *t;
    struct arena *a;
    int64_t height;
    int64_t *at, *end;    // by item: where it is or will be; at < 0: outside, or without a place
    bool *is_fixed;       // by item: it has got its address
    double *weight;       // by item: how hard it is to place
    uint32_t first;       // in t->big: those before it are released
    VEC(uint32_t) strays; // small items that got an address within the layout
    size_t n_strays;      // before the attempt
    VEC(uint32_t) put;    // items that the attempt gives their addresses
    VEC(uint32_t) open;   // items without a place
    bool *is_open;
    VEC(struct steer_undo) undo;
    uint32_t *near;           // scratch: placed items that are alive together with one item,
    struct steer_edge *lower; // their lower ends,
    struct steer_edge *upper; // and their upper ends
    int64_t steps;            // of work
    bool failed;              // out of memory
};

// Addresses for all big items, by the offset allocator.
struct steer_layout {
    int64_t *offset; // by index in t->big
    int64_t n_bytes;
};
status steer_layout_of(const struct steer_trace *t, struct arena *a, struct diags *d,
                       struct steer_layout *out);

// Starts from a layout, within a height that is at least its own. False: out of memory.
bool steer_fit_make(const struct steer_trace *t, const struct steer_layout *layout, int64_t height,
                    struct arena *a, struct steer_fit *out);

// An attempt: gives items their addresses if the others then still fit; false: it changes nothing.
// `max_moves`: how many items may be placed anew. steer_fit_end then keeps it or takes it back.
bool steer_fit_put(struct steer_fit *f, const struct steer_place *p, uint32_t n,
                   uint32_t max_moves);
void steer_fit_end(struct steer_fit *f, bool keep);
