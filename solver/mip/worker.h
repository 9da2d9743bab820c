// Runs CBC in a worker process, because CBC cannot be interrupted and may crash, hang or return
// wrong answers. The parent starts the mfc executable with the hidden command WORKER_COMMAND, sends
// it a model over a socket, and waits for the answer up to the limits. A crash, a timeout or a
// malformed answer gives CBC_UNKNOWN.
//
// A message is a header, arrays of doubles and integers in native format (both ends are the same
// program), and a hash of all of it.
#pragma once

#include "ir/base/status.h"
#include "solver/mip/cbc.h"

#define WORKER_COMMAND "__worker"

// The parent's side; limits->worker_path is the executable. False: out of memory.
bool worker_mip(const struct cbc_model *m, const double *initial, const struct cbc_limits *limits,
                struct arena *a, struct cbc_answer *out);

// The worker's side: reads one model from `fd`, solves it, writes the answer. The process's own
// standard output must not be `fd`. ST_IO: malformed message, or the parent closed the socket;
// ST_LIMIT: out of memory, which the parent learns from the exit code.
status worker_serve(int fd, struct mem *mem);

// ---- The messages, shared by both sides ----

#define WORKER_MODEL_MAGIC  0x6c65646f6d63666du
#define WORKER_ANSWER_MAGIC 0x7265776e6163666du

struct worker_model_head {
    uint64_t magic, hash; // hash: of the header with hash = 0, and of the body
    int64_t body_bytes;
    int64_t memory_bytes; // for the worker, beside what it has at its start; 0: no limit
    double seconds, gap;
    int32_t n_nodes, n_cols, n_rows, n_terms, has_initial, unused;
};

struct worker_answer_head {
    uint64_t magic, hash;
    int64_t body_bytes;
    double bound;
    int32_t result, n_nodes, n_iterations, n_cols;
};

// Byte offsets of the arrays in the body of a model message.
struct worker_layout {
    size_t col_lower, col_upper, col_cost, row_lower, row_upper, term_value, initial; // doubles
    size_t row_start, term_col, col_integer, n_bytes;
};

struct worker_layout worker_layout(const struct worker_model_head *h);
uint64_t worker_hash(const void *head, size_t head_bytes, const void *body, size_t body_bytes);
