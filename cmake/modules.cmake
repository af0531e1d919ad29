# Modules of the library: src/boot/module/*.c and the like.

# Sets `result` to whether a program that calls `call` of `header` links with the libraries: what is found may be of another
# machine than the one that is built for. The folder and the libraries are named by their variables; all must be found.
include(CheckCSourceCompiles)
function(hbmesh_links result include header call)
    set(CMAKE_REQUIRED_INCLUDES ${${include}})
    set(CMAKE_REQUIRED_LIBRARIES)
    foreach(name IN LISTS include ARGN)
        if(NOT ${name})
            unset(${result} CACHE) # of an earlier run
            return()
        endif()
    endforeach()
    foreach(name IN LISTS ARGN)
        list(APPEND CMAKE_REQUIRED_LIBRARIES ${${name}})
    endforeach()
    check_c_source_compiles("#include <${header}>
        int main(void) { return !${call}; }" ${result})
endfunction()

# PMIx: Debian's libpmix-dev keeps the header in a folder of its own; pkg-config knows, where it is there.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
    pkg_check_modules(HBMESH_PC_PMIX QUIET pmix)
endif()
find_path(HBMESH_PMIX_INCLUDE pmix.h HINTS ${HBMESH_PC_PMIX_INCLUDE_DIRS}
    PATH_SUFFIXES pmix2/include ../lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include)
find_library(HBMESH_PMIX_LIBRARY pmix HINTS ${HBMESH_PC_PMIX_LIBRARY_DIRS})
hbmesh_links(HBMESH_PMIX_LINKS HBMESH_PMIX_INCLUDE "pmix.h" "PMIx_Get_version()" HBMESH_PMIX_LIBRARY)
set(HBMESH_MODULES)
# src/boot/module/NAME.c becomes lib/hbmesh/NAME.so, which the bootstraps load when they need it.
function(hbmesh_boot_module name include library)
    add_library(hbmesh_${name} MODULE src/boot/module/${name}.c)
    target_compile_options(hbmesh_${name} PRIVATE -fvisibility=hidden)
    target_include_directories(hbmesh_${name} SYSTEM PRIVATE ${include})
    target_link_libraries(hbmesh_${name} PRIVATE hbmesh_flags ${library})
    set_target_properties(hbmesh_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/hbmesh)
    set(HBMESH_MODULES ${HBMESH_MODULES} hbmesh_${name} PARENT_SCOPE)
endfunction()
if(HBMESH_PMIX_LINKS)
    hbmesh_boot_module(pmix ${HBMESH_PMIX_INCLUDE} ${HBMESH_PMIX_LIBRARY})
else()
    message(STATUS "hbmesh: no pmix.h (Debian: libpmix-dev): built without the module for mpirun, prterun and srun")
endif()

# libcrypto of OpenSSL, 1.1 or later: Debian's libssl-dev.
find_path(HBMESH_CRYPTO_INCLUDE openssl/hmac.h)
find_library(HBMESH_CRYPTO_LIBRARY crypto)
hbmesh_links(HBMESH_CRYPTO_LINKS HBMESH_CRYPTO_INCLUDE "openssl/evp.h" "!!EVP_sha256()" HBMESH_CRYPTO_LIBRARY)
if(HBMESH_CRYPTO_LINKS)
    hbmesh_boot_module(crypto ${HBMESH_CRYPTO_INCLUDE} ${HBMESH_CRYPTO_LIBRARY})
else()
    message(STATUS "hbmesh: no OpenSSL (Debian: libssl-dev): built without the module by which PEs of several machines meet")
endif()
