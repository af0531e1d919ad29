#include "boot/module/crypto.h"

#include "base/version.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

static int module_hmac(const void *key, size_t key_size, const void *data, size_t size,
                       unsigned char mac[HM_HMAC_BYTES])
{
    unsigned n = 0;
    if (!HMAC(EVP_sha256(), key, (int)key_size, data, size, mac, &n) || n != HM_HMAC_BYTES) return -EIO;
    return 0;
}

static bool module_is_same(const void *a, const void *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}

extern const struct hm_crypto hm_crypto_module;
__attribute__((visibility("default"))) const struct hm_crypto hm_crypto_module = {
    .version = HM_VERSION,
    .hmac = module_hmac,
    .is_same = module_is_same,
};
