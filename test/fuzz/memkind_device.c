/* with: src/memkind/ascend.c src/memkind/ascend_copy.c src/memkind/ascend_stream.c src/memkind/calls.c src/memkind/cuda.c src/memkind/host.c src/memkind/memkind.c src/memkind/vendor.c src/base/log.c src/base/numa.c src/base/option.c src/base/os.c */
/* args: alone "too large" refusals sides "pairs on one device" "order in a flow" "many under way" threads "held back" "crossed streams" "owner killed" */
/* libs: -ldl */
/* env: CONFORM_FEW=1 */
/* timeout: 300 */
/* The kinds of device memory under AddressSanitizer and UBSan: tests of the conformance suite. */
#include "../conform/memkind_device.c"
