// The doors of rigs, profiles and cost models. The first byte says which; the rest is the file.
#include "frontend/inputs/cost_files.h"
#include "frontend/inputs/rig.h"
#include "tests/fuzz/door.h"

static status read_costs(struct door *o, const char *path) {
    static const struct option_spec specs[] = {{"costs", 0, OPTION_TEXT, "FILE", NULL, 0, 0, ""},
                                               {"profile", 0, OPTION_TEXT, "FILE", NULL, 0, 0, ""},
                                               {0}};
    struct options options = options_make(&o->a);
    const struct cost_sources *costs;
    status st = options_add(&options, &o->d, specs);
    if (!st)
        st = options_set(&options, &o->d, "costs", path);
    return st ? st : cost_files_read(&o->a, &o->d, &options, &costs);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct door o;
    struct rig rig = {0};
    struct cost_profile profile = {0};
    char path[32];
    if (n == 0)
        return 0;
    door_open(&o);
    int fd = door_file(bytes + 1, n - 1, path);
    status st = bytes[0] == 'r'   ? rig_read(&o.a, &o.d, path, &rig)
                : bytes[0] == 'p' ? profile_read(&o.a, &o.d, path, &profile)
                                  : read_costs(&o, path);
    door_check(&o, st);
    close(fd);
    door_close(&o);
    return 0;
}
