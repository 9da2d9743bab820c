// Planning metadata of all nodes as one entry of the model's metadata. ONNX Runtime keeps about
// 400 bytes for every entry of a node's metadata, twice that for a node in a branch; a table takes
// its bytes. Form: a line of column names, the keys without "dev.mfc."; then one line per node in
// file order, its values separated by tabs. In a value, \\ is a backslash, \t a tab, \n a line
// break, \= the name of the node, and \0 the empty text; no text at all: the node does not have the
// key. Columns that are empty to the end of the line are left out.
#pragma once

#include "ir/graph.h"

// Moves the planning metadata of the nodes of `g` into the table. Does nothing when there is none.
status node_table_pack(struct model *m, struct graph *g, struct diags *d);
// Moves it back. Does nothing without a table; a table that does not fit the graph is an error.
status node_table_unpack(struct model *m, struct graph *g, struct diags *d);
