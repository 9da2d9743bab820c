// The door of checkpoints: a placement problem, a byte of zero, a checkpoint of its search, from
// which the search goes on for a few proposals.
#include "solver/place.h"
#include "tests/fuzz/door.h"

enum { MAX_NODES = 50, WORK = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct door o;
    struct placement p;
    struct place_result found;
    size_t at = door_split(bytes, n);
    if (at == n)
        return 0;
    door_open(&o);
    struct source *problem = door_source(&o, bytes, at);
    struct place_options options = place_defaults();
    options.resume = door_source(&o, bytes + at + 1, n - at - 1);
    options.work = WORK;
    options.threads = 1;
    options.n_chains = 2;
    status st = problem && options.resume ? placement_read(&o.a, &o.d, problem, &p) : ST_LIMIT;
    door_check(&o, st);
    if (!st && p.graph.n <= MAX_NODES)
        st = place(&p, &options, &(struct place_hooks){0}, &o.a, &o.d, &found);
    if (st == ST_INTERNAL || (st && st != ST_NO_PLAN && o.d.n_errors == 0))
        abort();
    door_close(&o);
    return 0;
}
