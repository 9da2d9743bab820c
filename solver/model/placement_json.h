// The parts of placement problems that other files have too. docs/placement.md describes them.
#pragma once

#include "ir/json/json.h"
#include "solver/model/placement.h"

// The members "devices", "host" and "links" of an object: places, links and resources of *p.
// Routes are for placement_make_routes to find.
status placement_places_of_json(struct arena *a, struct diags *d, const char *file,
                                const json_t *root, struct placement *p);

// The member "time": what times in the file mean, for reports.
status placement_time_of_json(struct arena *a, struct diags *d, const char *file,
                              const json_t *root, struct placement *p);
