// CBC in a process of its own, because it cannot be stopped from inside, and may crash, hang or
// be wrong. The parent starts the mfc executable with the hidden command WORKER_COMMAND, sends it
// a model over a socket, and waits for the answer no longer than the limits say. Whatever goes
// wrong on the other side (death, silence, nonsense) ends as CBC_UNKNOWN.
//
// A message is a header, arrays of doubles and integers in the machine's own format (both ends are
// the same program), and a hash over all of it.
#pragma once

#include "solver/mip/cbc.h"

#define WORKER_COMMAND "__worker"

// The parent's side; limits->worker_path names the executable. False: no room.
bool worker_mip(const struct cbc_model *m, const double *initial, const struct cbc_limits *limits,
                struct arena *a, struct cbc_answer *out);

// The worker's side: reads one model from `fd`, solves it, writes the answer. The process's own
// standard output must not be `fd`. False: the message was no good, or the parent is gone.
bool worker_serve(int fd, struct mem *mem);

// ---- The messages, shared by both sides ----

#define WORKER_MODEL_MAGIC  0x6c65646f6d63666du
#define WORKER_ANSWER_MAGIC 0x7265776e6163666du

struct worker_model_head {
    uint64_t magic, hash; // of the header with this member zero, and of the body
    int64_t body_bytes;
    double seconds, gap;
    int32_t n_nodes, n_cols, n_rows, n_terms, has_initial, unused;
};

struct worker_answer_head {
    uint64_t magic, hash;
    int64_t body_bytes;
    double bound;
    int32_t result, n_nodes, n_iterations, n_cols;
};

// The body of a model message: its arrays one after the other. Where they start in it.
struct worker_layout {
    size_t col_lower, col_upper, col_cost, row_lower, row_upper, term_value, initial; // doubles
    size_t row_start, term_col, col_integer, n_bytes;
};

struct worker_layout worker_layout(const struct worker_model_head *h);
uint64_t worker_hash(const void *head, size_t head_bytes, const void *body, size_t body_bytes);
