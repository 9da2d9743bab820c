// Several mfc processes that search together: `mpirun -n 16 mfc place ...`. All of them run the
// same command; the placement search shares its work (solver/place/team.h), and one of them, the
// lowest number that lives, prints and writes. docs/placement.md tells how to start them.
#pragma once

#include "ir/base/stop.h"
#include "solver/place/team.h"

// Whether this mfc can at all, and with what: "Open MPI 4.1.4", or NULL.
const char *cli_team_library(void);

// NULL: this process was started alone. A signal to one member raises the stop of all.
struct team *cli_team_open(struct stop *stop);

// Whether it is on this member to print and write. The others wait here: until that one has done
// it, or until it is dead and somebody else's turn. NULL is alone, and leads.
bool cli_team_leads(struct team *t);

// The same question when there is no time to wait: whether nothing was heard of late of those that
// would come before this one.
bool cli_team_seems_to_lead(struct team *t);

// The last call. `code` is returned, or the process ends with it at once, if MPI would not end.
int cli_team_close(struct team *t, int code);
