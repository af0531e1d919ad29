/* What the module hbmesh/crypto.so does for src/boot/shake.c, by libcrypto of OpenSSL. Loaded when PEs of several machines
 * meet over TCP. It exports hm_crypto_module alone. */
#ifndef HM_CRYPTO_MODULE_H
#define HM_CRYPTO_MODULE_H

#include "base/base.h"

#define HM_HMAC_BYTES 32

struct hm_crypto {
    const char *version; /* of the library it was built with */
    /* HMAC-SHA256. 0 or -EIO. */
    int (*hmac)(const void *key, size_t key_size, const void *data, size_t size, unsigned char mac[HM_HMAC_BYTES]);
    /* Takes as long whatever the difference. */
    bool (*is_same)(const void *a, const void *b, size_t size);
};

#define HM_CRYPTO_SYMBOL "hm_crypto_module"

#endif
