// What is known of a plan: see facts.h.
#include "backend/facts.h"

#include <stdlib.h>

#include "ir/keys.h"

struct facts facts_none(void) {
    return (struct facts){.cost_match = FACTS_UNKNOWN,
                          .budget_bytes = FACTS_UNKNOWN,
                          .unplanned_peak_bytes = FACTS_UNKNOWN,
                          .peak_bytes = FACTS_UNKNOWN,
                          .plain_peak_bytes = FACTS_UNKNOWN,
                          .fused_peak_bytes = FACTS_UNKNOWN,
                          .liveness_bytes = FACTS_UNKNOWN,
                          .arena_bytes = FACTS_UNKNOWN,
                          .cost = FACTS_UNKNOWN,
                          .base_cost = FACTS_UNKNOWN,
                          .makespan = FACTS_UNKNOWN,
                          .bound = FACTS_UNKNOWN,
                          .min_bytes = FACTS_UNKNOWN};
}

static void read_number(const struct model *plan, const char *key, int64_t *to) {
    const char *text = pairs_get(&plan->metadata, key);
    char *end;
    if (*to != FACTS_UNKNOWN || !text)
        return;
    long long x = strtoll(text, &end, 10);
    if (end != text && !*end && x >= 0)
        *to = x;
}

void facts_read(const struct model *plan, struct facts *f) {
    if (!f->runtime)
        f->runtime = pairs_get(&plan->metadata, KEY_RUNTIME);
    read_number(plan, KEY_BUDGET, &f->budget_bytes);
    read_number(plan, KEY_PEAK, &f->peak_bytes);
    read_number(plan, KEY_PLAIN_PEAK, &f->plain_peak_bytes);
    read_number(plan, KEY_FUSED_PEAK, &f->fused_peak_bytes);
    read_number(plan, KEY_LIVENESS, &f->liveness_bytes);
    read_number(plan, KEY_ARENA, &f->arena_bytes);
    read_number(plan, KEY_UNPLANNED_PEAK, &f->unplanned_peak_bytes);
    read_number(plan, KEY_COST, &f->cost);
    read_number(plan, KEY_BASE_COST, &f->base_cost);
    read_number(plan, KEY_BOUND, &f->bound);
}
