// Facts about a plan: see plan_facts.h.
#include "backend/plan_facts.h"

#include <stdlib.h>

#include "ir/keys.h"

struct plan_facts plan_facts_none(void) {
    return (struct plan_facts){.cost_match = PLAN_FACTS_UNKNOWN,
                               .budget_bytes = PLAN_FACTS_UNKNOWN,
                               .baseline_peak_bytes = PLAN_FACTS_UNKNOWN,
                               .peak_bytes = PLAN_FACTS_UNKNOWN,
                               .plain_peak_bytes = PLAN_FACTS_UNKNOWN,
                               .fused_peak_bytes = PLAN_FACTS_UNKNOWN,
                               .liveness_bytes = PLAN_FACTS_UNKNOWN,
                               .arena_bytes = PLAN_FACTS_UNKNOWN,
                               .cost = PLAN_FACTS_UNKNOWN,
                               .base_cost = PLAN_FACTS_UNKNOWN,
                               .makespan = PLAN_FACTS_UNKNOWN,
                               .bound = PLAN_FACTS_UNKNOWN,
                               .min_bytes = PLAN_FACTS_UNKNOWN};
}

static void read_number(const struct model *plan, const char *key, int64_t *to) {
    const char *text = pairs_get(&plan->metadata, key);
    char *end;
    if (*to != PLAN_FACTS_UNKNOWN || !text)
        return;
    long long x = strtoll(text, &end, 10);
    if (end != text && !*end && x >= 0)
        *to = x;
}

void plan_facts_read(const struct model *plan, struct plan_facts *f) {
    if (!f->runtime)
        f->runtime = pairs_get(&plan->metadata, KEY_RUNTIME);
    read_number(plan, KEY_BUDGET, &f->budget_bytes);
    read_number(plan, KEY_PEAK, &f->peak_bytes);
    read_number(plan, KEY_PLAIN_PEAK, &f->plain_peak_bytes);
    read_number(plan, KEY_FUSED_PEAK, &f->fused_peak_bytes);
    read_number(plan, KEY_LIVENESS, &f->liveness_bytes);
    read_number(plan, KEY_ARENA, &f->arena_bytes);
    read_number(plan, KEY_BASELINE_PEAK, &f->baseline_peak_bytes);
    read_number(plan, KEY_COST, &f->cost);
    read_number(plan, KEY_BASE_COST, &f->base_cost);
    read_number(plan, KEY_BOUND, &f->bound);
}
