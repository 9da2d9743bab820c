// The door of --plan-in: bytes that claim to be the mfc-plan of one small model.
#include "passes/remat/remat.h"
#include "tests/fuzz/step.h"

static status read_plan(struct door *o, struct model *m, const char *path) {
    struct options options = options_make(&o->a);
    struct pass_context c = {.arena = &o->a, .diags = &o->d, .options = &options};
    struct remat r;
    struct steps steps;
    if (pass_add_options(&options, &o->d) || step_make_costed(m, &c) ||
        remat_make(m->graph, &c, true, &r))
        abort();
    return remat_read(m->graph, &r, path, &o->a, &o->d, &steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct door o;
    struct model *m;
    char path[32];
    door_open(&o);
    struct pool names = pool_make(&o.a);
    if (step_model(&o, &names, &m))
        abort();
    int fd = door_file(bytes, n, path);
    door_check(&o, read_plan(&o, m, path));
    close(fd);
    model_close(m);
    door_close(&o);
    return 0;
}
