// Metadata keys of a plan: entries of metadata_props for what ONNX has no field for. Viewers show
// them, runtimes ignore them. docs/plans.md describes each.
#pragma once

// Of the model.
#define KEY_RUNTIME       "dev.mfc.runtime" // the runtime model that the claimed peak is for
#define KEY_BUDGET        "dev.mfc.budget_bytes"
#define KEY_PEAK          "dev.mfc.peak_bytes"       // on that runtime
#define KEY_PLAIN_PEAK    "dev.mfc.plain_peak_bytes" // at optimization levels disabled and basic
#define KEY_FUSED_PEAK    "dev.mfc.fused_peak_bytes" // at optimization levels extended and all
#define KEY_FIRST_RUN     "dev.mfc.first_run_bytes"  // peak of the first run of a session
#define KEY_LATER_RUNS    "dev.mfc.later_runs_bytes" // peak of all later ones
#define KEY_SESSION       "dev.mfc.session_bytes"    // of nodes and names
#define KEY_SESSION_APART "dev.mfc.session"          // "apart": not in the peaks and the budget
#define KEY_LIVENESS      "dev.mfc.liveness_bytes"
#define KEY_ARENA         "dev.mfc.arena_bytes"
#define KEY_ARENA_LIVE    "dev.mfc.arena_live_bytes" // liveness peak of the arena
#define KEY_BASELINE_PEAK "dev.mfc.unplanned_peak_bytes"
#define KEY_COST          "dev.mfc.cost"
#define KEY_BASE_COST     "dev.mfc.base_cost"
#define KEY_BOUND         "dev.mfc.bound"
#define KEY_MAKESPAN      "dev.mfc.makespan"       // on several devices
#define KEY_RECOMPUTED    "dev.mfc.recomputations" // nodes
#define KEY_CONTROL       "dev.mfc.control_nodes"
#define KEY_COST_MODEL    "dev.mfc.cost_model" // of the costs, in a few words
#define KEY_DEVICES       "dev.mfc.devices"    // names, one per line, in the order of their numbers
#define KEY_DEVICE_MEMORY "dev.mfc.device_memory" // bytes, one line per device; empty: no limit
#define KEY_DEVICE_PEAKS  "dev.mfc.device_peaks"  // bytes, one line per device
#define KEY_OPTIONS       "dev.mfc.options"       // options that build the same step
#define KEY_DIVISION      "dev.mfc.division"      // dimension and number of parts: "sample in 4"
#define KEY_DIVISIONS     "dev.mfc.divisions"     // that were evaluated, with their values, as text
#define KEY_STATE         "dev.mfc.state" // starting state: lines "NUMBER NAME", for tensors of one number
#define KEY_LOSS          "dev.mfc.loss"  // of which value, along which axes
#define KEY_NODES         "dev.mfc.nodes" // metadata of the nodes, as a table (ir/wrapper)

// Of a node.
#define KEY_ORIGIN "dev.mfc.origin" // the node of the baseline step that it is or recomputes
#define KEY_ROLE   "dev.mfc.role"   // once, kept, recomputed, control, transfer
#define KEY_STAGE  "dev.mfc.stage"
#define KEY_DEVICE "dev.mfc.device"
#define KEY_FROM   "dev.mfc.from" // of a transfer: the source device
#define KEY_OFFSET "dev.mfc.offset"
#define KEY_TIME   "dev.mfc.time" // on several devices: simulated start and end, ns
