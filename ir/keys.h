// The keys under which a plan says about itself what ONNX has no field for: entries of
// metadata_props, which viewers show and every runtime ignores. docs/plans.md tells what they mean.
#pragma once

// Of the model.
#define KEY_RUNTIME       "dev.mfc.runtime" // whose order and allocation the promise is about
#define KEY_BUDGET        "dev.mfc.budget_bytes"
#define KEY_PEAK          "dev.mfc.peak_bytes"       // on that runtime
#define KEY_PLAIN_PEAK    "dev.mfc.plain_peak_bytes" // the same at levels disabled and basic
#define KEY_FUSED_PEAK    "dev.mfc.fused_peak_bytes" // and at levels extended and all
#define KEY_LIVENESS      "dev.mfc.liveness_bytes"
#define KEY_ARENA         "dev.mfc.arena_bytes"
#define KEY_ARENA_LIVE    "dev.mfc.arena_live_bytes" // what is alive at once there, at most
#define KEY_BASELINE_PEAK "dev.mfc.unplanned_peak_bytes"
#define KEY_COST          "dev.mfc.cost"
#define KEY_BASE_COST     "dev.mfc.base_cost"
#define KEY_BOUND         "dev.mfc.bound"
#define KEY_DEVICES       "dev.mfc.devices"       // one a line, in the order of their numbers
#define KEY_DEVICE_MEMORY "dev.mfc.device_memory" // bytes of each, one a line; empty: no limit
#define KEY_OPTIONS       "dev.mfc.options"       // that make the same step again

// Of a node.
#define KEY_ORIGIN "dev.mfc.origin" // the node of the unplanned step that it is, or repeats
#define KEY_ROLE   "dev.mfc.role"   // once, kept, recomputed, control, transfer
#define KEY_STAGE  "dev.mfc.stage"
#define KEY_DEVICE "dev.mfc.device"
#define KEY_FROM   "dev.mfc.from" // of a transfer: the device that sends
#define KEY_OFFSET "dev.mfc.offset"
