// Versions of mfc and of what it stands on, as linked at run time where the library can tell.
#pragma once

const char *version_mfc(void);
const char *version_cbc(void);
const char *version_coinutils(void); // of its headers: it has no function for it
const char *version_protobuf_c(void);
