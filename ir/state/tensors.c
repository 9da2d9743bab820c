// Named tensors: see tensors.h.
#include "ir/state/tensors.h"

#include <assert.h>

struct tensors tensors_make(struct arena *a) {
    return (struct tensors){.arena = a, .by_name = map_make(a)};
}

bool tensors_add(struct tensors *t, struct tensor *x) {
    assert(x->name && !tensors_find(t, x->name));
    return VEC_PUSH(t->arena, &t->list, x) &&
           map_put_text(&t->by_name, x->name, (int64_t)t->list.n - 1);
}

struct tensor *tensors_find(const struct tensors *t, const char *name) {
    int64_t at;
    return map_get_text(&t->by_name, name, &at) ? t->list.at[at] : NULL;
}
