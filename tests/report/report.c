// report BASELINE PLAN OUT [COMMAND]: the report of two models from files, for the tests of its
// pages: models with hostile names or thousands of nodes, without a search.
#include <stdio.h>

#include "backend/report/report.h"
#include "frontend/load.h"
#include "passes/plan/plan.h"

static status run(struct arena *a, struct diags *d, char **argv) {
    struct pool names = pool_make(a);
    struct model *baseline, *plan;
    status st = load_model(a, &names, d, argv[1], &baseline);
    if (st != ST_OK)
        return st;
    st = load_model(a, &names, d, argv[2], &plan);
    if (st == ST_OK) {
        struct plan_facts facts = plan_facts_none();
        facts.title = file_name(argv[2]);
        facts.command = argv[4];
        struct pass_context c = {.arena = a, .diags = d};
        st = plan_facts_read(plan, &facts, d);
        if (st == ST_OK)
            st = plan_figures(baseline, plan, &c, &facts);
        struct str page = str_make(a);
        if (st == ST_OK)
            st = report_print(&page, baseline, plan, &facts, d);
        if (st == ST_OK)
            st = output_text(a, d, argv[3], &page);
        model_close(plan);
    }
    model_close(baseline);
    return st;
}

int main(int argc, char **argv) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct diags d = diags_make(&a);
    status st = argc >= 4 ? run(&a, &d, argv) : ST_USAGE;
    struct str text = str_make(&a);
    for (size_t i = 0; i < d.list.n; i++)
        diag_print(&text, &d.list.at[i]);
    fputs(str_text(&text), stderr);
    arena_free(&a);
    return (int)st;
}
