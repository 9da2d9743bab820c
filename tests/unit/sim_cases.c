// Small strategies whose times and peaks are computed by hand, for the plain replay and the fast
// simulator alike. Quotes are single in the texts. A node is written N(name, cost, bytes).
#include <stdio.h>
#include <string.h>

#include "solver/check/strategy_check.h"
#include "solver/sim/sim.h"
#include "tests/unit/unit.h"

#define N(name, cost, bytes) "{'name':'" name "','cost':" #cost ",'bytes':" #bytes "}"
#define M(name, more)        "{'name':'" name "'," more "}" // a node that has more to say
#define ONE                  "'devices':[{'name':'d0','memory':100}],'links':[]"
#define TWO(links)           "'devices':[{'name':'d0'},{'name':'d1'}],'links':[" links "]"
// 20 bytes take 1 + 20 / 10 = 3 between the devices.
#define LINK        "{'between':['d0','d1'],'bandwidth':10,'latency':1}"
#define SHARED      "{'between':['d0','d1'],'bandwidth':10,'latency':1,'duplex':false}"
#define HOSTS(more) "{'between':['d0','host']," more "},{'between':['d1','host']," more "}"

struct hand_case {
    const char *what, *rig, *nodes, *edges, *tasks;
    int64_t makespan, load, peak[3]; // of d0, d1 or the host, the host
};

static const struct hand_case cases[] = {
    {"one node", ONE, N("a", 5, 7), "", "['run','a','d0']", 5, 5, {7, 0}},
    {"a chain: both outputs while b runs",
     ONE,
     N("a", 5, 7) "," N("b", 3, 2),
     "[0,1]",
     "['run','a','d0'],['run','b','d0']",
     8,
     8,
     {9, 0}},
    {"workspace counts while it runs",
     ONE,
     M("a", "'cost':5,'bytes':7,'workspace':4"),
     "",
     "['run','a','d0']",
     5,
     5,
     {11, 0}},
    {"a is let go before c",
     ONE,
     N("a", 5, 7) "," N("b", 3, 2) "," N("c", 1, 1),
     "[0,1],[1,2]",
     "['run','a','d0'],['run','b','d0'],['run','c','d0']",
     9,
     9,
     {9, 0}},
    {"a is kept: 7 + 2 + 1 at c",
     ONE,
     M("a", "'cost':5,'bytes':7,'keep':true") "," N("b", 3, 2) "," N("c", 1, 1),
     "[0,1],[1,2]",
     "['run','a','d0'],['run','b','d0'],['run','c','d0']",
     9,
     9,
     {10, 0}},
    {"resident bytes",
     ONE,
     M("a", "'cost':5,'bytes':7,'resident':5"),
     "",
     "['run','a','d0']",
     5,
     5,
     {12, 0}},
    {"no time at all, but memory",
     ONE,
     N("a", 0, 5) "," N("b", 0, 3),
     "[0,1]",
     "['run','a','d0'],['run','b','d0']",
     0,
     0,
     {8, 0}},
    {"devices work side by side",
     TWO(LINK),
     N("a", 5, 1) "," N("b", 3, 1),
     "",
     "['run','a','d0'],['run','b','d1']",
     5,
     5,
     {1, 1, 0}},
    {"transfer 5-8, b 8-11",
     TWO(LINK),
     N("a", 5, 20) "," N("b", 3, 2),
     "[0,1]",
     "['run','a','d0'],['fetch','a','d1','d0'],['run','b','d1']",
     11,
     5,
     {20, 22, 0}},
    {"c runs 0-10 while a comes; b 10-13",
     TWO(LINK),
     N("a", 5, 20) "," N("c", 10, 1) "," N("b", 3, 2),
     "[0,2]",
     "['run','a','d0'],['fetch','a','d1','d0'],['run','c','d1'],['run','b','d1']",
     13,
     13,
     {20, 22, 0}},
    {"the fetch waits for c: 10-13, b 13-16",
     TWO(LINK),
     N("a", 5, 20) "," N("c", 10, 1) "," N("b", 3, 2),
     "[0,2]",
     "['run','a','d0'],['run','c','d1'],['fetch','a','d1','d0'],['run','b','d1']",
     16,
     13,
     {20, 22, 0}},
    {"one transfer after the other: 5-8, 8-11, c 11-14",
     TWO(LINK),
     N("a", 5, 20) "," N("b", 1, 20) "," N("c", 3, 1),
     "[0,2],[1,2]",
     "['run','a','d0'],['run','b','d0'],['fetch','a','d1','d0'],['fetch','b','d1','d0'],"
     "['run','c','d1']",
     14,
     6,
     {40, 41, 0}},
    {"both directions at once: 5-8, c and e 8-11",
     TWO(LINK),
     N("a", 5, 20) "," N("b", 5, 20) "," N("c", 3, 1) "," N("e", 3, 1),
     "[0,2],[1,3]",
     "['run','a','d0'],['run','b','d1'],['fetch','a','d1','d0'],['fetch','b','d0','d1'],"
     "['run','c','d1'],['run','e','d0']",
     11,
     8,
     {40, 40, 0}},
    {"a shared link: b 8-11, so still there while c runs 8-11; e 11-14",
     TWO(SHARED),
     N("a", 5, 20) "," N("b", 5, 20) "," N("c", 3, 1) "," N("e", 3, 1),
     "[0,2],[1,3]",
     "['run','a','d0'],['run','b','d1'],['fetch','a','d1','d0'],['fetch','b','d0','d1'],"
     "['run','c','d1'],['run','e','d0']",
     14,
     8,
     {40, 41, 0}},
    {"through the host: 5-8, 8-11, b 11-14",
     TWO(HOSTS("'bandwidth':10,'latency':1")),
     N("a", 5, 20) "," N("b", 3, 2),
     "[0,1]",
     "['run','a','d0'],['fetch','a','host','d0'],['fetch','a','d1','host'],['run','b','d1']",
     14,
     5,
     {20, 22, 20}},
    {"a bus: a up 5-8, e up 8-11, a down 11-14, b 14-17",
     TWO(HOSTS("'bandwidth':20,'bus':'pci'")),
     N("a", 5, 60) "," N("e", 5, 60) "," N("b", 3, 2),
     "[0,2],[1,2]",
     "['run','a','d0'],['run','e','d1'],['fetch','a','host','d0'],['fetch','e','host','d1'],"
     "['fetch','a','d1','host'],['run','b','d1']",
     17,
     9,
     {60, 122, 120}},
    {"devices that copy by themselves: a up 5-9, e 9-19; a down 9-13, b 13-16",
     TWO(HOSTS("'by_node':true,'blocking':true")),
     M("a", "'cost':5,'bytes':20,'move':4") "," N("e", 10, 1) "," N("b", 3, 2),
     "[0,2]",
     "['run','a','d0'],['fetch','a','host','d0'],['run','e','d0'],['fetch','a','d1','host'],"
     "['run','b','d1']",
     19,
     19,
     {20, 22, 20}},
    {"links without cost",
     TWO(HOSTS("'free':true")),
     N("a", 5, 20) "," N("b", 3, 2),
     "[0,1]",
     "['run','a','d0'],['fetch','a','host','d0'],['fetch','a','d1','host'],['run','b','d1']",
     8,
     5,
     {20, 22, 20}},
    {"a copy instead of a transfer",
     TWO(LINK),
     M("a", "'cost':5,'bytes':20,'resident':9") "," N("b", 3, 2) "," N("c", 3, 2),
     "[0,1],[0,2]",
     "['run','a','d0'],['run','a','d1'],['run','b','d0'],['run','c','d1']",
     8,
     8,
     {31, 31, 0}},
    {"kept until e: 20 + 10 + 10 at c, 20 + 10 + 1 at e",
     ONE,
     N("a", 5, 20) "," N("b", 3, 10) "," N("c", 2, 10) "," N("e", 1, 1),
     "[0,1],[1,2],[0,3],[2,3]",
     "['run','a','d0'],['run','b','d0'],['run','c','d0'],['run','e','d0']",
     11,
     11,
     {40, 0}},
    {"recomputed for e: 30 at b, 30 at a, 31 at e",
     ONE,
     N("a", 5, 20) "," N("b", 3, 10) "," N("c", 2, 10) "," N("e", 1, 1),
     "[0,1],[1,2],[0,3],[2,3]",
     "['run','a','d0'],['run','b','d0'],['run','c','d0'],['run','a','d0'],['run','e','d0']",
     16,
     16,
     {31, 0}},
    {"offload: up 5-9, b alone 9-19, down 19-23, c 23-24",
     "'devices':[{'name':'d0'}],'links':[{'between':['d0','host'],'bandwidth':5}]",
     N("a", 5, 20) "," N("e", 4, 0) "," N("b", 10, 50) "," N("c", 1, 1),
     "[0,3],[2,3]",
     "['run','a','d0'],['fetch','a','host','d0'],['run','e','d0'],['run','b','d0'],"
     "['fetch','a','d0','host'],['run','c','d0']",
     24,
     20,
     {71, 20}},
    {"a goes 5-8: it is there for e and f, gone when g starts at 9",
     TWO(LINK),
     N("a", 5, 20) "," N("e", 2, 1) "," N("f", 2, 5) "," N("g", 5, 7) "," N("b", 3, 2),
     "[0,4]",
     "['run','a','d0'],['fetch','a','d1','d0'],['run','e','d0'],['run','f','d0'],['run','g','d0'],"
     "['run','b','d1']",
     14,
     14,
     {25, 22, 0}},
    {"over another device: 1 + 1 + 20 / 5 on both links",
     "'devices':[{'name':'d0'},{'name':'d1'},{'name':'d2'}],'links':[" LINK
     ",{'between':['d1','d2'],'bandwidth':5,'latency':1}]",
     N("a", 5, 20) "," N("b", 3, 2),
     "[0,1]",
     "['run','a','d0'],['fetch','a','d2','d0'],['run','b','d2']",
     14,
     6,
     {20, 0, 22}},
    {"half the speed: 5 takes 10",
     "'devices':[{'name':'d0','speed':0.5}],'links':[]",
     N("a", 5, 7),
     "",
     "['run','a','d0']",
     10,
     10,
     {7, 0}},
};

static struct source *text_source(struct scene *sc, const char *format, const char *a,
                                  const char *b, const char *c) {
    struct source *out;
    char *text = str_format(&sc->arena, format, a, b, c);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    assert_int_equal(source_memory(&sc->arena, &sc->diags, text, (int64_t)strlen(text), &out),
                     ST_OK);
    return out;
}

static void by_hand(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct hand_case *x = &cases[k];
        struct scene sc;
        struct placement p;
        struct strategy s;
        struct strategy_facts f;
        struct sim sim;
        scene_open(&sc);
        struct source *problem =
            text_source(&sc, "{'format':'mfc-problem','version':1,%s,'nodes':[%s],'edges':[%s]}",
                        x->rig, x->nodes, x->edges);
        struct source *strategy = text_source(
            &sc, "{'format':'mfc-strategy','version':1,'tasks':[%s]}%s%s", x->tasks, "", "");
        print_message("%s\n", x->what);
        assert_int_equal(placement_read(&sc.arena, &sc.diags, problem, &p), ST_OK);
        assert_int_equal(strategy_read(&sc.arena, &sc.diags, strategy, &p, &s), ST_OK);
        assert_int_equal(strategy_replay(&p, &s, &sc.arena, &sc.diags, &f), ST_OK);
        assert_int_equal(f.makespan_cost, x->makespan);
        assert_int_equal(f.load_cost, x->load);
        for (int32_t place = 0; place < p.n_places && place < 3; place++)
            assert_int_equal(f.peak_bytes[place], x->peak[place]);
        assert_true(sim_make(&sc.arena, &p, &sim));
        assert_true(sim_load(&sim, &s));
        assert_int_equal(sim.result.makespan_cost, x->makespan);
        assert_int_equal(sim.result.load_cost, x->load);
        for (int32_t place = 0; place < p.n_places && place < 3; place++)
            assert_int_equal(sim.base_bytes[place] + sim.peak[place], x->peak[place]);
        source_close(problem);
        source_close(strategy);
        scene_close(&sc);
    }
    assert_true(sizeof cases / sizeof *cases >= 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
