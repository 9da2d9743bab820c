// Versions: see version.h.
#include "frontend/version.h"

#include <coin/Cbc_C_Interface.h>
#include <coin/CoinUtilsConfig.h>
#include <protobuf-c/protobuf-c.h>

#include "frontend/mfc.h"

#define TEXT(x)                     #x
#define DOTTED(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *version_mfc(void) {
    return DOTTED(MFC_VERSION_MAJOR, MFC_VERSION_MINOR, MFC_VERSION_PATCH);
}

const char *version_cbc(void) {
    return Cbc_getVersion();
}

const char *version_coinutils(void) {
    return COINUTILS_VERSION;
}

const char *version_protobuf_c(void) {
    return protobuf_c_version();
}
