// Whole messages over a stream of cli_link.h: what is to be sent waits here until the stream takes
// it, and what arrives in parts is put together. None of it waits.
#pragma once

#include "frontend/cli/cli_link.h"

struct cli_message {
    struct cli_message *next;
    size_t n_bytes, n_done; // with the header: of all; sent or received so far
    struct cli_message_header {
        int64_t kind, n_bytes; // n_bytes: of what follows
    } header;
    char bytes[];
};

struct cli_queue {
    struct cli_message *first, **end;
};

struct cli_post { // with one member
    struct cli_queue out;
    struct cli_message_header header; // of what is arriving
    size_t n_header;                  // bytes of it that are there
    struct cli_message *partial;      // then, the rest
};

void cli_post_free(struct mem *mem, struct cli_message *m); // NULL is none
void cli_post_add(struct cli_queue *q, struct cli_message *m);
struct cli_message *cli_post_take(struct cli_queue *q); // NULL: it is empty

// A message that will be sent. False: no room.
bool cli_post_put(struct mem *mem, struct cli_post *p, int64_t kind, const void *bytes,
                  size_t n_bytes);
void cli_post_send(struct mem *mem, struct cli_post *p, struct cli_links *l, int32_t to);

// The next message that is whole, or NULL. *heard: something has come in. Without room for a
// message, or if it makes no sense, the stream is broken.
struct cli_message *cli_post_receive(struct mem *mem, struct cli_post *p, struct cli_links *l,
                                     int32_t from, bool *heard);

void cli_post_close(struct mem *mem, struct cli_post *p);
