// Versions of mfc and its libraries; at run time where the library has a function for it.
#pragma once

const char *version_mfc(void);
const char *version_cbc(void);
const char *version_coinutils(void); // of its headers
const char *version_protobuf_c(void);
