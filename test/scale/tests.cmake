# One PE of a large job, the others of which are played by a bootstrap in the program and a transport in a module that lies
# where the library of this program looks for one.
add_library(test-scale-transport MODULE EXCLUDE_FROM_ALL test/scale/transport.c src/core/pack.c src/core/pool.c src/core/send.c src/core/unpack.c src/base/futex.c src/base/log.c src/base/os.c)
target_compile_options(test-scale-transport PRIVATE -fvisibility=hidden)
target_link_libraries(test-scale-transport PRIVATE hbmesh_flags Threads::Threads)
set_target_properties(test-scale-transport PROPERTIES OUTPUT_NAME hbmesh-ucx
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/scale/hbmesh)
add_executable(test-scale-world EXCLUDE_FROM_ALL test/scale/world.c)
target_link_libraries(test-scale-world PRIVATE hbmesh_flags hbmesh_static)
set_target_properties(test-scale-world PROPERTIES OUTPUT_NAME world
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/scale)
add_dependencies(test-scale-world test-scale-transport)
add_dependencies(tests test-scale-world)
add_test(NAME scale/world COMMAND $<TARGET_FILE:test-scale-world>)
set_tests_properties(scale/world PROPERTIES TIMEOUT 70 LABELS scale ENVIRONMENT "${test_environment}")
