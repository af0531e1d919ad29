# Transports: a module each, made from src/transport/NAME where what it leans on is there. The library loads it when
# a job needs it, and is itself built without any.
set(HBMESH_TRANSPORTS)

function(hbmesh_transport name include)
    file(GLOB sources CONFIGURE_DEPENDS src/transport/${name}/*.c)
    add_library(hbmesh-${name} MODULE ${sources})
    target_compile_options(hbmesh-${name} PRIVATE -fvisibility=hidden)
    target_include_directories(hbmesh-${name} SYSTEM PRIVATE ${include})
    target_link_libraries(hbmesh-${name} PRIVATE hbmesh_flags Threads::Threads ${ARGN})
    set_target_properties(hbmesh-${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/hbmesh)
    if(NOT HBMESH_SANITIZE)
        target_link_options(hbmesh-${name} PRIVATE -Wl,-z,defs)
    endif()
    install(TARGETS hbmesh-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hbmesh)
    set(HBMESH_TRANSPORTS ${HBMESH_TRANSPORTS} ${name} PARENT_SCOPE)
endfunction()

# UCX 1.10 is the first whose calls are all of the form that we use.
set(HBMESH_UCX_OLDEST 1.10)
find_path(HBMESH_UCX_INCLUDE ucp/api/ucp.h)
find_library(HBMESH_UCP_LIBRARY ucp)
find_library(HBMESH_UCS_LIBRARY ucs)
set(ucx_version)
if(HBMESH_UCX_INCLUDE)
    file(STRINGS ${HBMESH_UCX_INCLUDE}/ucp/api/ucp_version.h ucx_version REGEX "define UCP_API_M[AI][JN]OR ")
    string(REGEX REPLACE "[^;]*UCP_API_M[AI][JN]OR +([0-9]+)" "\\1" ucx_version "${ucx_version}")
    string(REPLACE ";" "." ucx_version "${ucx_version}")
endif()
hbmesh_links(HBMESH_UCX_LINKS HBMESH_UCX_INCLUDE "ucp/api/ucp.h" "ucp_get_version_string()"
    HBMESH_UCP_LIBRARY HBMESH_UCS_LIBRARY)
if(NOT HBMESH_UCX_LINKS)
    message(STATUS "hbmesh: transport ucx is not built: no UCX here (Debian: libucx-dev)")
elseif(ucx_version VERSION_LESS HBMESH_UCX_OLDEST)
    message(STATUS
        "hbmesh: transport ucx is not built: UCX ${ucx_version} is older than ${HBMESH_UCX_OLDEST}")
else()
    hbmesh_transport(ucx ${HBMESH_UCX_INCLUDE} ${HBMESH_UCP_LIBRARY} ${HBMESH_UCS_LIBRARY})
endif()
