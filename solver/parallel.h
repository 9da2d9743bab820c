// A parallel for: fixed tasks on a few threads. Which thread runs a task never matters to what it
// does, so results do not depend on the number of threads.
#pragma once

#include <stdint.h>

typedef void parallel_task(void *context, int32_t index);

// Runs task(context, 0 .. n_tasks - 1), each once, on the caller's thread and up to n_threads - 1
// others, and returns when all are done. If threads cannot be created, it uses fewer.
void parallel_run(int32_t n_threads, int32_t n_tasks, parallel_task *task, void *context);
