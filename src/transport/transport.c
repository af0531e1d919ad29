#include "transport/transport.h"

#define HM_TRANSPORT(name) extern const struct hm_transport hm_transport_##name;
#include "transport/transports.def"
#undef HM_TRANSPORT

static const struct hm_transport *const transports[] = {
#define HM_TRANSPORT(name) &hm_transport_##name,
#include "transport/transports.def"
#undef HM_TRANSPORT
    NULL,
};

const struct hm_transport *hm_transport_find(const char **why)
{
    *why = "this library was built without any transport";
    for (unsigned i = 0; transports[i]; i++)
        if (!(*why = transports[i]->probe())) return transports[i];
    return NULL;
}
