// The ranks of an MPI job search together: `mpirun -n 16 mfc place ...`. All of them run the same
// command; the placement search shares its work (solver/place/team.h), and rank 0 prints and
// writes. docs/placement.md shows how to start them.
#pragma once

#include <stdbool.h>

#include "ir/base/stop.h"
#include "solver/place/team.h"

// The MPI library that this mfc is built with: "Open MPI 4.1.4", or NULL.
const char *cli_team_library(void);

// NULL: this process was started alone. `stop` is raised when rank 0 fails.
struct team *cli_team_open(struct stop *stop);

// Whether this process prints and writes. NULL is alone, and does.
bool cli_team_leads(const struct team *t);

// The last call: waits until all ranks have come here, and ends MPI.
void cli_team_close(struct team *t);
