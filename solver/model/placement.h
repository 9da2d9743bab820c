// The placement problem: a graph of operations (problem.h), and the devices, links and host memory
// that it is to run on. It knows nothing of ONNX.
//
// A *place* holds tensors: each device, and the host, which computes nothing and is the last place.
// Tensors move between places by routes. A *resource* does one thing at a time: each device's
// compute is one, and so is each direction of a duplex link, a shared link, and a bus of several
// links. A transfer takes all resources of its route at once.
//
//     struct placement p;
//     status st = placement_read(&arena, &diags, source, &p);
#pragma once

#include "ir/json/json_write.h"
#include "solver/model/problem.h"

enum { ROUTE_MAX = 8, PLACES_MAX = 1024 };

// Times of all runs and transfers stay below this, so that sums of thousands of them fit in int64.
#define PLACEMENT_MAX_TIME ((int64_t)1 << 40)

struct placement_place {
    const char *name;
    const char *kind;     // of a device; NULL: the host
    int64_t memory_bytes; // INT64_MAX: no limit
    double speed;         // costs of its kind are divided by it
    int64_t power;        // energy per unit of time that it is busy
};

struct link {
    const char *name;     // "acc0-host", for messages
    int32_t between[2];   // places
    int32_t resource[2];  // towards between[1], towards between[0]; -1: none, it is free
    double bandwidth;     // bytes per unit of time; INFINITY: unlimited
    int64_t latency_cost; // per transfer
    bool by_node;         // takes the node's `move_cost` instead of bytes by bandwidth
};

// How a tensor gets from one place to another: the cheapest way for a tensor of mean size.
struct route {
    int32_t n_resources; // -1: no route except through the host, or none
    int32_t resource[ROUTE_MAX];
    double bandwidth;     // of the narrowest link
    int64_t latency_cost; // of all links
    int32_t n_by_node;    // links that cost the node's move_cost each
    bool via_host;        // the best route is to the host and from there
};

struct placement {
    struct problem graph; // cost: on the fastest device
    int32_t n_devices, n_places, n_resources, n_links;
    int32_t host; // the last place
    struct placement_place *place;
    struct link *link;
    struct route *route;        // [from * n_places + to]
    const char **resource_name; // a device's name, a link's or a bus's
    int64_t *cost;              // [node * n_devices + device]; -1: the node cannot run there
    int64_t *resident_bytes;    // per node: persistent memory on every device that runs it
    int64_t *move_cost;         // per node: time over a link that goes by nodes
    int32_t *group;             // per node: nodes of one group share a device; 0 .. n_groups - 1
    int32_t n_groups;
    int32_t *group_start, *group_nodes; // the nodes of group g: group_nodes[group_start[g] ..]
    const char *time_unit;              // for reports; never NULL
    int64_t ticks;                      // units of time in the file per time_unit
    bool has_sizes; // some output or workspace has bytes: memory depends on the order
};

// The format of docs/placement.md.
status placement_read(struct arena *a, struct diags *d, const struct source *json,
                      struct placement *out);

// Writes the same format; the links also alone, for other files that have them.
void placement_print(struct str *out, const struct placement *p);
void placement_print_links(struct json_writer *w, const struct placement *p); // "links": [...]

// Routes between all places, from the links. Every device must reach every other one, directly or
// through the host: those that do not are an error.
status placement_make_routes(struct arena *a, struct diags *d, const char *file,
                             struct placement *p);

// The nodes of each group, from `group` and `n_groups`. A group that no device can run as a whole
// is an error.
status placement_link_groups(struct arena *a, struct diags *d, const char *file,
                             struct placement *p);

// Time that a transfer of the node's output takes on the route; the route must exist.
int64_t placement_transfer_cost(const struct placement *p, int32_t node, int32_t from, int32_t to);

static inline const struct route *placement_route(const struct placement *p, int32_t from,
                                                  int32_t to) {
    return &p->route[from * p->n_places + to];
}

static inline int64_t placement_cost(const struct placement *p, int32_t node, int32_t device) {
    return p->cost[(int64_t)node * p->n_devices + device];
}

static inline bool placement_runs_on(const struct placement *p, int32_t node, int32_t device) {
    return placement_cost(p, node, device) >= 0;
}

// Whether all nodes of the group can run there.
bool placement_group_runs_on(const struct placement *p, int32_t group, int32_t device);
// Persistent memory of a device that runs all of them.
int64_t placement_group_resident(const struct placement *p, int32_t group);
