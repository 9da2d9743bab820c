// Tasks on threads: see parallel.h. Threads live for one call: calls are long, threads are cheap.
#include "solver/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

enum { POOL_THREADS = 64 };

struct pool {
    atomic_int next;
    int32_t n_tasks;
    parallel_task *task;
    void *context;
};

static void *work(void *argument) {
    struct pool *pool = argument;
    for (;;) {
        int32_t index = atomic_fetch_add(&pool->next, 1);
        if (index >= pool->n_tasks)
            return NULL;
        pool->task(pool->context, index);
    }
}

void parallel_run(int32_t n_threads, int32_t n_tasks, parallel_task *task, void *context) {
    struct pool pool = {.n_tasks = n_tasks, .task = task, .context = context};
    pthread_t thread[POOL_THREADS];
    int32_t n = 0;
    n_threads = n_threads < n_tasks ? n_threads : n_tasks;
    while (n < n_threads - 1 && n < POOL_THREADS &&
           pthread_create(&thread[n], NULL, work, &pool) == 0)
        n++;
    work(&pool);
    while (n > 0)
        pthread_join(thread[--n], NULL);
}
