/* Random work against a model: allocations, mappings, copies and settings in streams and by the host, events between
 * streams, waits. What has been waited for is what the model says, to the byte. */
/* also: late address thread */
#include "twin_test.h"

enum { STREAMS = 3, REGION = 24 * 1024, ROUNDS = 1500, BLOCKS = 12 };

static uint64_t state = 88172645463325252ull;
static uint64_t draw(uint64_t range)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % range;
}

/* Each stream has a region of device memory, one of page-locked memory, and a model of both. */
static struct lane {
    aclrtStream stream;
    aclrtEvent event;
    char *device, *host;
    unsigned char device_model[REGION], host_model[REGION];
} lanes[STREAMS];

static void step(struct lane *l)
{
    size_t n = 1 + draw(draw(4) ? 64 : 6000), a = draw(REGION - n), b = draw(REGION - n);
    int byte = (int)draw(256);
    switch (draw(5)) {
    case 0:
        OK(aclrtMemcpyAsync(l->device + a, n, l->host + b, n, ACL_MEMCPY_HOST_TO_DEVICE, l->stream));
        memcpy(l->device_model + a, l->host_model + b, n);
        break;
    case 1:
        OK(aclrtMemcpyAsync(l->host + a, n, l->device + b, n, ACL_MEMCPY_DEVICE_TO_HOST, l->stream));
        memcpy(l->host_model + a, l->device_model + b, n);
        break;
    case 2:
        if (a < b + n && b < a + n) return; /* a copy onto itself says nothing */
        OK(aclrtMemcpyAsync(l->device + a, n, l->device + b, n, ACL_MEMCPY_DEVICE_TO_DEVICE, l->stream));
        memcpy(l->device_model + a, l->device_model + b, n);
        break;
    default:
        OK(aclrtMemsetAsync(l->device + a, n, byte, n, l->stream));
        memset(l->device_model + a, byte, n);
    }
}

static void wait_for(struct lane *l)
{
    aclrtStreamStatus status;
    switch (draw(4)) {
    case 0: OK(aclrtSynchronizeStream(l->stream)); break;
    case 1: OK(aclrtSynchronizeDevice()); break;
    case 2:
        OK(aclrtRecordEvent(l->event, l->stream));
        OK(aclrtSynchronizeEvent(l->event));
        break;
    default:
        do
            OK(aclrtStreamQuery(l->stream, &status));
        while (status != ACL_STREAM_STATUS_COMPLETE);
    }
}

static bool compare(struct lane *l)
{
    static unsigned char seen[REGION];
    OK(aclrtMemcpy(seen, REGION, l->device, REGION, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(!memcmp(seen, l->device_model, REGION));
    CHECK(!memcmp(l->host, l->host_model, REGION));
    return !memcmp(seen, l->device_model, REGION) && !memcmp(l->host, l->host_model, REGION);
}

/* One stream takes from another's region what is there at an event. */
static void hand_over(struct lane *from, struct lane *to)
{
    size_t n = 1 + draw(2000), a = draw(REGION - n), b = draw(REGION - n);
    if (from == to) return;
    OK(aclrtRecordEvent(from->event, from->stream));
    OK(aclrtStreamWaitEvent(to->stream, from->event));
    OK(aclrtMemcpyAsync(to->device + a, n, from->device + b, n, ACL_MEMCPY_DEVICE_TO_DEVICE, to->stream));
    memcpy(to->device_model + a, from->device_model + b, n);
    OK(aclrtRecordEvent(to->event, to->stream)); /* before it is written again */
    OK(aclrtStreamWaitEvent(from->stream, to->event));
}

/* Allocations come and go beside it, and none is another's. */
static struct block {
    char *p;
    size_t bytes;
    int byte;
    aclrtDrvMemHandle handle; /* of a mapping */
} blocks[BLOCKS];

static void drop(struct block *b)
{
    char seen[2];
    if (!b->p) return;
    OK(aclrtMemcpy(seen, 1, b->p, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(seen + 1, 1, b->p + b->bytes - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(seen[0] == (char)b->byte && seen[1] == (char)b->byte);
    if (b->handle) unmapped(b->p, b->handle);
    else OK(aclrtFree(b->p));
    *b = (struct block){0};
}

static void exchange(struct block *b)
{
    drop(b);
    b->byte = (int)draw(256);
    if (draw(3) == 0) {
        b->bytes = (1 + draw(3)) * PAGE;
        b->p = mapped(0, b->bytes, &b->handle);
    } else {
        b->bytes = 1 + draw(draw(3) ? 5000 : 3 * MIB);
        OK(aclrtMalloc((void **)&b->p, b->bytes, (aclrtMemMallocPolicy)draw(6)));
    }
    OK(aclrtMemset(b->p, b->bytes, b->byte, b->bytes));
}

int main(void)
{
    aclrtDrvMemHandle whole;
    test_begin();
    begin_on(0);
    CHECK(!getenv("HBMESH_TWIN_LATE") || twin_late("0:3000") == 0);
    char *device = mapped(0, PAGE, &whole);
    for (int i = 0; i < STREAMS; i++) {
        struct lane *l = &lanes[i];
        OK(aclrtCreateStream(&l->stream));
        OK(aclrtCreateEvent(&l->event));
        OK(aclrtMallocHost((void **)&l->host, REGION));
        l->device = device + i * REGION;
        for (int k = 0; k < REGION; k++) l->host_model[k] = (unsigned char)draw(256);
        memcpy(l->host, l->host_model, REGION);
        OK(aclrtMemset(l->device, REGION, 0, REGION));
    }
    bool well = true;
    for (int round = 0; round < ROUNDS && well; round++) {
        struct lane *l = &lanes[draw(STREAMS)];
        for (uint64_t k = draw(8); k; k--) step(l);
        if (draw(4) == 0) hand_over(l, &lanes[draw(STREAMS)]);
        if (draw(6) == 0) exchange(&blocks[draw(BLOCKS)]);
        if (draw(10)) continue;
        wait_for(l);
        well &= compare(l); /* others may still read it, but write only what is theirs */
        if (!well) printf("round %d\n", round);
    }
    for (int i = 0; i < STREAMS; i++) OK(aclrtSynchronizeStream(lanes[i].stream));
    for (int i = 0; i < STREAMS; i++) compare(&lanes[i]);
    for (int i = 0; i < BLOCKS; i++) drop(&blocks[i]);
    end_on(0);
    CHECK(driver_ends());
    return test_end();
}
