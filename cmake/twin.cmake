# The software NPU, twin/: a library with the name of the Ascend runtime's, and the driver that it starts, side by side in
# build/twin, where nothing finds them that is not told to look there.
file(GLOB twin_sources CONFIGURE_DEPENDS twin/*.c twin/engine/*.c)
list(REMOVE_ITEM twin_sources ${CMAKE_SOURCE_DIR}/twin/engine/driver.c)

add_library(hbmesh_twin SHARED ${twin_sources})
set_target_properties(hbmesh_twin PROPERTIES OUTPUT_NAME ascendcl LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/twin)
target_compile_options(hbmesh_twin PRIVATE -fvisibility=hidden)
target_link_libraries(hbmesh_twin PRIVATE hbmesh_flags Threads::Threads ${CMAKE_DL_LIBS})

add_executable(hbmesh_twin_driver twin/engine/driver.c twin/engine/config.c)
set_target_properties(hbmesh_twin_driver PROPERTIES OUTPUT_NAME hbmesh-twin-driver
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/twin)
target_link_libraries(hbmesh_twin_driver PRIVATE hbmesh_flags)
add_dependencies(hbmesh_twin hbmesh_twin_driver)
