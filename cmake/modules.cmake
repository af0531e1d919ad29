# Modules of the library: src/boot/module/*.c and the like.

# PMIx: Debian's libpmix-dev keeps the header in a folder of its own; pkg-config knows, where it is there.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
    pkg_check_modules(HBMESH_PC_PMIX QUIET pmix)
endif()
find_path(HBMESH_PMIX_INCLUDE pmix.h HINTS ${HBMESH_PC_PMIX_INCLUDE_DIRS}
    PATH_SUFFIXES pmix2/include ../lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include)
find_library(HBMESH_PMIX_LIBRARY pmix HINTS ${HBMESH_PC_PMIX_LIBRARY_DIRS})
# What is found may be of another machine than the one that is built for.
include(CheckCSourceCompiles)
if(HBMESH_PMIX_INCLUDE AND HBMESH_PMIX_LIBRARY)
    set(CMAKE_REQUIRED_INCLUDES ${HBMESH_PMIX_INCLUDE})
    set(CMAKE_REQUIRED_LIBRARIES ${HBMESH_PMIX_LIBRARY})
    check_c_source_compiles("#include <pmix.h>
        int main(void) { return !PMIx_Get_version(); }" HBMESH_PMIX_LINKS)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
endif()
set(HBMESH_MODULES)
if(HBMESH_PMIX_INCLUDE AND HBMESH_PMIX_LIBRARY AND HBMESH_PMIX_LINKS)
    add_library(hbmesh_pmix MODULE src/boot/module/pmix.c)
    target_compile_options(hbmesh_pmix PRIVATE -fvisibility=hidden)
    target_include_directories(hbmesh_pmix SYSTEM PRIVATE ${HBMESH_PMIX_INCLUDE})
    target_link_libraries(hbmesh_pmix PRIVATE hbmesh_flags ${HBMESH_PMIX_LIBRARY})
    set_target_properties(hbmesh_pmix PROPERTIES PREFIX "" OUTPUT_NAME pmix
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/hbmesh)
    list(APPEND HBMESH_MODULES hbmesh_pmix)
else()
    message(STATUS "hbmesh: no pmix.h (Debian: libpmix-dev): built without the module for mpirun, prterun and srun")
endif()
