// Searches that work together, here on threads: they agree on the best, give the same strategy
// every time, and go on when one of them dies.
#include "tests/unit/random_placement.h"

#include <pthread.h>
#include <stdlib.h>

#include "solver/place.h"

enum { MEMBERS = 3, LETTERS = 4096 };

// Letters from each to each, in order.
struct post {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct letter {
        char *bytes;
        size_t n;
    } box[MEMBERS][MEMBERS][LETTERS];
    int n_sent[MEMBERS][MEMBERS], n_read[MEMBERS][MEMBERS];
    int lives[MEMBERS]; // letters until it dies; -1: never
};

struct member {
    struct post *post;
    int32_t rank;
    const struct placement *p;
    struct place_options options;
    struct scene scene;
    struct place_result result;
    status st;
};

static void send_letter(void *context, int32_t to, const void *bytes, size_t n) {
    struct member *m = context;
    struct post *post = m->post;
    pthread_mutex_lock(&post->lock);
    if (post->lives[m->rank] > 0)
        post->lives[m->rank]--;
    if (post->lives[m->rank] != 0) {
        assert_true(post->n_sent[m->rank][to] < LETTERS);
        struct letter *l = &post->box[m->rank][to][post->n_sent[m->rank][to]++];
        l->bytes = malloc(n);
        l->n = n;
        memcpy(l->bytes, bytes, n);
    }
    pthread_cond_broadcast(&post->changed);
    pthread_mutex_unlock(&post->lock);
}

static const void *read_letter(void *context, int32_t from, size_t *n) {
    struct member *m = context;
    struct post *post = m->post;
    pthread_mutex_lock(&post->lock);
    int k = post->n_read[from][m->rank];
    while (post->n_sent[from][m->rank] <= k && post->lives[from] != 0 && post->lives[m->rank] != 0)
        pthread_cond_wait(&post->changed, &post->lock);
    bool is_there = post->n_sent[from][m->rank] > k && post->lives[m->rank] != 0;
    post->n_read[from][m->rank] += is_there;
    struct letter l = is_there ? post->box[from][m->rank][k] : (struct letter){0};
    pthread_mutex_unlock(&post->lock);
    *n = l.n;
    return l.bytes;
}

static void *run_member(void *context) {
    struct member *m = context;
    struct team team = {m->rank, MEMBERS, m, send_letter, read_letter};
    m->options.team = &team;
    scene_open(&m->scene);
    m->st = place(m->p, &m->options, &(struct place_hooks){0}, &m->scene.arena, &m->scene.diags,
                  &m->result);
    return NULL;
}

// Member `victim` dies after so many letters; -1: nobody does.
static struct member *run_team(const struct placement *p, int32_t n_chains, int victim,
                               int n_letters) {
    struct member *m = calloc(MEMBERS, sizeof *m);
    struct post *post = calloc(1, sizeof *post);
    pthread_t thread[MEMBERS];
    pthread_mutex_init(&post->lock, NULL);
    pthread_cond_init(&post->changed, NULL);
    for (int32_t k = 0; k < MEMBERS; k++) {
        post->lives[k] = k == victim ? n_letters : -1;
        m[k] = (struct member){.post = post, .rank = k, .p = p, .options = place_defaults()};
        m[k].options.work = MEMBERS * n_chains * 36000 + 1;
        m[k].options.n_chains = n_chains;
        m[k].options.threads = 1;
        m[k].options.seconds = 0;
    }
    for (int32_t k = 0; k < MEMBERS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, run_member, &m[k]), 0);
    for (int32_t k = 0; k < MEMBERS; k++)
        pthread_join(thread[k], NULL);
    return m;
}

static void free_team(struct member *m) {
    struct post *post = m->post;
    for (int i = 0; i < MEMBERS * MEMBERS; i++)
        for (int k = 0; k < post->n_sent[i / MEMBERS][i % MEMBERS]; k++)
            free(post->box[i / MEMBERS][i % MEMBERS][k].bytes);
    for (int32_t k = 0; k < MEMBERS; k++)
        scene_close(&m[k].scene);
    pthread_cond_destroy(&post->changed);
    pthread_mutex_destroy(&post->lock);
    free(post);
    free(m);
}

static void open_problem(struct scene *s, int32_t most_nodes, struct placement *p) {
    const struct random_shape shape = {
        .most_nodes = most_nodes, .n_devices = 3, .groups = true, .sizes = true, .memory = 150};
    scene_open(s);
    random_placement(s, 7, &shape, p);
}

static void the_same_every_time(void **state) {
    (void)state;
    struct scene s;
    struct placement p;
    open_problem(&s, 40, &p);
    struct member *a = run_team(&p, 2, -1, 0), *b = run_team(&p, 2, -1, 0);
    for (int k = 0; k < MEMBERS; k++) {
        const struct place_result *x = &a[k].result, *y = &b[k].result;
        assert_int_equal(a[k].st, ST_OK);
        assert_int_equal(b[k].st, ST_OK);
        assert_true(x->value == a[0].result.value); // all know the best
        assert_int_equal(x->n_proposals, a[0].result.n_proposals);
        assert_int_equal(x->n_lost, 0);
        assert_int_equal(x->best.n, y->best.n);
        assert_memory_equal(x->best.at, y->best.at, (size_t)x->best.n * sizeof *x->best.at);
    }
    assert_true(a[0].result.n_proposals >= a[0].options.work);
    assert_true(a[0].result.n_exchanges > 0);
    free_team(a);
    free_team(b);
    scene_close(&s);
}

// Whoever dies, and whenever: the others end with a strategy, and agree.
static void the_others_go_on(void **state) {
    (void)state;
    struct scene s;
    struct placement p;
    open_problem(&s, 12, &p);
    for (int victim = 0; victim < MEMBERS; victim++)
        for (int n_letters = 0; n_letters < 6; n_letters++) {
            struct member *m = run_team(&p, 1, victim, n_letters);
            int one = victim == 0 ? 1 : 0, other = 3 - victim - one;
            assert_int_equal(m[one].st, ST_OK);
            assert_int_equal(m[other].st, ST_OK);
            assert_true(m[one].result.value == m[other].result.value);
            assert_int_equal(m[one].result.n_lost, 1);
            assert_int_equal(m[other].result.n_lost, 1);
            free_team(m);
        }
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_every_time),
                                       cmocka_unit_test(the_others_go_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
