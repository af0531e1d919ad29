# The software NPU, twin/: a library with the name of the Ascend runtime's, and the driver that it starts, side by side
# in build/twin, where nothing finds them that is not told to look there.
file(GLOB twin_sources CONFIGURE_DEPENDS twin/*.c twin/engine/*.c)
list(REMOVE_ITEM twin_sources ${CMAKE_SOURCE_DIR}/twin/engine/driver.c)

add_library(hbmesh_twin_objects OBJECT ${twin_sources})
target_compile_options(hbmesh_twin_objects PRIVATE -fvisibility=hidden)
target_link_libraries(hbmesh_twin_objects PRIVATE hbmesh_flags Threads::Threads)

add_executable(hbmesh_twin_driver twin/engine/driver.c twin/engine/config.c)
set_target_properties(hbmesh_twin_driver PROPERTIES OUTPUT_NAME hbmesh-twin-driver
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/twin)
target_link_libraries(hbmesh_twin_driver PRIVATE hbmesh_flags)

function(hbmesh_twin_library target folder)
    add_library(${target} SHARED ${ARGN} $<TARGET_OBJECTS:hbmesh_twin_objects>)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ascendcl LIBRARY_OUTPUT_DIRECTORY ${folder}
        LINKER_LANGUAGE C)
    target_link_libraries(${target} PRIVATE hbmesh_flags Threads::Threads ${CMAKE_DL_LIBS})
    target_link_options(${target} PRIVATE -Wl,-z,nodelete) # it has threads: dlclose leaves it where it is
    add_dependencies(${target} hbmesh_twin_driver)
endfunction()
hbmesh_twin_library(hbmesh_twin ${CMAKE_BINARY_DIR}/twin)

# What a backend meets of other versions, for its tests: build/twin/half lacks one function of many that belong
# together, build/twin/keys has no virtual memory, only sharing by keys.
function(hbmesh_twin_without name) # and the patterns of what it lacks
    set(folder ${CMAKE_BINARY_DIR}/twin/${name})
    file(MAKE_DIRECTORY ${folder})
    string(REPLACE ";" "; " lacks "${ARGN}")
    file(GENERATE OUTPUT ${folder}/lacks.map CONTENT "{ local: ${lacks}; };\n")
    hbmesh_twin_library(hbmesh_twin_${name} ${folder} EXCLUDE_FROM_ALL)
    target_link_options(hbmesh_twin_${name} PRIVATE -Wl,--version-script=${folder}/lacks.map)
    file(CREATE_LINK ../hbmesh-twin-driver ${folder}/hbmesh-twin-driver SYMBOLIC)
endfunction()
hbmesh_twin_without(half aclrtMapMem)
hbmesh_twin_without(keys aclrtMapMem aclrtUnmapMem aclrtMallocPhysical aclrtFreePhysical aclrtReserveMemAddress
    aclrtReleaseMemAddress aclrtMemSetAccess aclrtMemGetAllocationGranularity aclrtMem*ShareableHandle*)

# The second facade: the CUDA driver's names over the same engine, for the kind cuda.
file(GLOB twin_cuda_sources CONFIGURE_DEPENDS twin/cuda/*.c twin/engine/*.c)
list(REMOVE_ITEM twin_cuda_sources ${CMAKE_SOURCE_DIR}/twin/engine/driver.c)
add_library(hbmesh_twin_cuda SHARED ${twin_cuda_sources})
set_target_properties(hbmesh_twin_cuda PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/twin)
target_compile_options(hbmesh_twin_cuda PRIVATE -fvisibility=hidden)
target_link_libraries(hbmesh_twin_cuda PRIVATE hbmesh_flags Threads::Threads ${CMAKE_DL_LIBS})
add_dependencies(hbmesh_twin_cuda hbmesh_twin_driver)
