// Maps over uthash: see map.h.
#include "ir/base/map.h"

#include <string.h>

#include "ir/base/hash.h"

struct map_entry {
    UT_hash_handle hh;
    int64_t int_key; // where an integer key lives, for hh.key points at its key
    int64_t value;
};

struct map map_make(struct arena *a) {
    return (struct map){.arena = a};
}

static struct map_entry *map_find(const struct map *m, const void *key, size_t n_bytes) {
    struct map_entry *e;
    HASH_FIND(hh, m->entries, key, n_bytes, e);
    return e;
}

static bool map_insert(struct map *m, const void *key, size_t n_bytes, int64_t value,
                       bool own_key) {
    struct map_entry *e = map_find(m, key, n_bytes);
    if (e) {
        e->value = value;
        return true;
    }
    struct arena *uthash_arena = m->arena;
    if (!(e = ARENA_NEW(m->arena, struct map_entry)))
        return false;
    e->value = value;
    if (own_key)
        memcpy(&e->int_key, key, n_bytes);
    HASH_ADD_KEYPTR(hh, m->entries, own_key ? (const void *)&e->int_key : key, n_bytes, e);
    return e->hh.tbl != NULL; // a failed insert clears the handle
}

bool map_put(struct map *m, const void *key, size_t n_bytes, int64_t value) {
    return map_insert(m, key, n_bytes, value, false);
}

bool map_get(const struct map *m, const void *key, size_t n_bytes, int64_t *value) {
    const struct map_entry *e = map_find(m, key, n_bytes);
    if (e)
        *value = e->value;
    return e != NULL;
}

bool map_put_text(struct map *m, const char *key, int64_t value) {
    return map_put(m, key, strlen(key), value);
}

bool map_get_text(const struct map *m, const char *key, int64_t *value) {
    return map_get(m, key, strlen(key), value);
}

bool map_put_int(struct map *m, int64_t key, int64_t value) {
    return map_insert(m, &key, sizeof key, value, true);
}

bool map_get_int(const struct map *m, int64_t key, int64_t *value) {
    return map_get(m, &key, sizeof key, value);
}
