// The words for facts: see fact.h.
#include <string.h>

#include "ir/fact.h"

static const struct {
    const char *word;
    unsigned fact;
} facts[] = {
    {"topo", FACT_TOPO},   {"shapes", FACT_SHAPES}, {"loss", FACT_LOSS}, {"grad", FACT_GRAD},
    {"costs", FACT_COSTS}, {"placed", 0},           {"plan", 0},         {"rewritten", 0},
};

void fact_print(struct str *out, unsigned mask) {
    const char *separator = "";
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (mask & facts[i].fact) {
            str_addf(out, "%s%s", separator, facts[i].word);
            separator = ", ";
        }
}

bool fact_find(const char *word, unsigned *fact) {
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(facts[i].word, word) == 0) {
            *fact = facts[i].fact;
            return true;
        }
    return false;
}
