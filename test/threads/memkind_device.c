/* with: src/memkind/ascend.c src/memkind/ascend_copy.c src/memkind/ascend_stream.c src/memkind/calls.c src/memkind/cuda.c src/memkind/host.c src/memkind/memkind.c src/memkind/vendor.c src/base/log.c src/base/numa.c src/base/option.c src/base/os.c */
/* args: threads "many under way" "seen by others" "crossed streams" "calls in order" */
/* libs: -ldl */
/* env: CONFORM_FEW=1 */
/* timeout: 300 */
/* cflags: -Wno-tsan -Wno-unknown-warning-option */
/* The kinds of device memory under ThreadSanitizer: tests of the conformance suite in which threads meet inside a process. */
#include "../conform/memkind_device.c"
