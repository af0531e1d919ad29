# The declarations of include/ for shmem4py.api, which hands them to cffi. cffi itself is not needed to make them.
#
# Wants HBMESH_PYTHON_EXECUTABLE and python_package (build/python/shmem4py); sets python_cdef, the file made.
set(python_cdef ${python_package}/_api_cdef.py)
file(GLOB python_cdef_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/*.h ${CMAKE_SOURCE_DIR}/include/shmem/*.h)
add_custom_command(OUTPUT ${python_cdef}
    COMMAND ${HBMESH_PYTHON_EXECUTABLE} ${CMAKE_SOURCE_DIR}/python/make_cdef.py ${CMAKE_SOURCE_DIR}/include
        ${python_cdef} ${CMAKE_C_COMPILER} -std=gnu11
    DEPENDS ${CMAKE_SOURCE_DIR}/python/make_cdef.py ${python_cdef_headers} VERBATIM)
add_custom_target(hbmesh_python_cdef ALL DEPENDS ${python_cdef})
add_dependencies(hbmesh_python hbmesh_python_cdef)
if(SKBUILD)
    install(FILES ${python_cdef} DESTINATION shmem4py COMPONENT python)
endif()
