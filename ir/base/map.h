// A map from strings or integers to int64, in an arena. Keys are not copied: they must outlive it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/mem.h"

struct map_entry;

struct map {
    struct arena *arena;
    struct map_entry *entries;
};

struct map map_make(struct arena *a);

// Sets or replaces; false: out of memory, and the map is as before.
bool map_put(struct map *m, const void *key, size_t n_bytes, int64_t value);
bool map_get(const struct map *m, const void *key, size_t n_bytes, int64_t *value);

bool map_put_text(struct map *m, const char *key, int64_t value);
bool map_get_text(const struct map *m, const char *key, int64_t *value);
bool map_put_int(struct map *m, int64_t key, int64_t value);
bool map_get_int(const struct map *m, int64_t key, int64_t *value);
