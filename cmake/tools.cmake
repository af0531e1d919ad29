# The compiler wrappers and shmem-info.

# A name that PATH leads to the same compiler is better than a path: it still means something on another machine.
function(hbmesh_compiler_name variable compiler)
    get_filename_component(name ${compiler} NAME)
    find_program(HBMESH_FOUND ${name} NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH NO_CMAKE_FIND_ROOT_PATH)
    if(NOT HBMESH_FOUND STREQUAL ${compiler})
        set(name ${compiler})
    endif()
    unset(HBMESH_FOUND CACHE)
    set(${variable} ${name} PARENT_SCOPE)
endfunction()
hbmesh_compiler_name(wrapper_cc ${CMAKE_C_COMPILER})
hbmesh_compiler_name(wrapper_cxx ${CMAKE_CXX_COMPILER})
set(wrapper_flags)
if(HBMESH_SANITIZE)
    set(wrapper_flags "-fsanitize=${HBMESH_SANITIZE}")
endif()

add_executable(oshcc tools/oshcc/oshcc.c)
target_include_directories(oshcc PRIVATE src)
target_compile_options(oshcc PRIVATE -Wall -Wextra)
target_compile_definitions(oshcc PRIVATE HM_CC="${wrapper_cc}" HM_CXX="${wrapper_cxx}"
    HM_LIBDIR="${CMAKE_INSTALL_LIBDIR}" HM_FLAGS="${wrapper_flags}")
set(HBMESH_WRAPPER_ALIASES oshc++ oshcxx oshCC)
foreach(alias ${HBMESH_WRAPPER_ALIASES})
    add_custom_command(TARGET oshcc POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E create_symlink oshcc ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${alias} VERBATIM)
endforeach()

file(GLOB info_sources CONFIGURE_DEPENDS tools/shmem-info/*.c)
if(info_sources)
    file(GLOB boot_sources CONFIGURE_DEPENDS src/boot/*.c src/memkind/*.c)
    add_executable(shmem-info ${info_sources} ${base_sources} ${boot_sources})
    target_compile_definitions(shmem-info PRIVATE HM_LIBDIR="${CMAKE_INSTALL_LIBDIR}")
    target_link_libraries(shmem-info PRIVATE hbmesh_flags Threads::Threads ${CMAKE_DL_LIBS})
endif()
