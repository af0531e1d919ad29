# The Python part: the extension module shmem4py._core and, beside it in build/python/shmem4py, the package's files.
#
# It is built when an interpreter is found that has NumPy and Python.h, and left out, in a sentence, when there is none.
# Sets HBMESH_PYTHON_EXECUTABLE (empty: no Python part) and HBMESH_PYTHON_MODULES, what the interpreter has for the tests.
set(HBMESH_PYTHON "" CACHE STRING
    "interpreter of the Python part; OFF: none; empty: the first python3 that has NumPy and Python.h")
set(HBMESH_PYTHON_EXECUTABLE)
set(HBMESH_PYTHON_MODULES)
if(SKBUILD AND NOT HBMESH_PYTHON) # pip's way in: the wheel is for the interpreter that runs pip
    set(HBMESH_PYTHON ${Python_EXECUTABLE})
endif()

file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.c)
if(NOT python_sources OR (NOT HBMESH_PYTHON AND NOT HBMESH_PYTHON STREQUAL "")) # OFF, NO, 0
    return()
endif()
# The interpreter of this machine does not load what is for another one, nor what needs a sanitizer loaded first.
if(NOT HBMESH_PYTHON AND (CMAKE_CROSSCOMPILING OR HBMESH_SANITIZE))
    return()
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS python/shmem4py/__init__.py)
file(STRINGS python/shmem4py/__init__.py line REGEX "^__version__ = ['\"]${HBMESH_VERSION}['\"]$")
if(NOT line)
    message(FATAL_ERROR "src/base/version.h says ${HBMESH_VERSION}, python/shmem4py/__init__.py says something else")
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHON=${HBMESH_PYTHON}
    sh ${CMAKE_SOURCE_DIR}/tools/python.sh numpy Python.h -- pytest cffi
    OUTPUT_VARIABLE python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE python_lacks ERROR_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE rc)
if(NOT rc EQUAL 0)
    string(REPLACE "\n" "; " python_lacks "${python_lacks}")
    set(python_lacks "${python_lacks} (Debian: apt-get install python3-numpy python3-dev)")
    if(HBMESH_PYTHON)
        message(FATAL_ERROR "hbmesh: the Python part cannot be built: ${python_lacks}")
    endif()
    message(STATUS "hbmesh: without the Python part: ${python_lacks}")
    return()
endif()
execute_process(COMMAND ${python} ${CMAKE_SOURCE_DIR}/tools/python-facts.py OUTPUT_VARIABLE facts RESULT_VARIABLE rc)
if(NOT rc EQUAL 0)
    message(FATAL_ERROR "${python} does not say how to build for it")
endif()
foreach(key version numpy include suffix modules)
    string(REGEX MATCH "(^|\n)${key}=([^\n]*)" line "${facts}")
    set(python_${key} "${CMAKE_MATCH_2}")
endforeach()
set(HBMESH_PYTHON_EXECUTABLE ${python})
set(HBMESH_PYTHON_MODULES ${python_modules})
execute_process(COMMAND ${python} ${CMAKE_SOURCE_DIR}/tools/python-facts.py --namesake
    OUTPUT_VARIABLE namesake OUTPUT_STRIP_TRAILING_WHITESPACE)
if(namesake AND NOT SKBUILD)
    message(STATUS "hbmesh: ${namesake} is another package of that name: build/python must come before it on PYTHONPATH "
        "(to remove it: ${python} -m pip uninstall shmem4py)")
endif()
message(STATUS "hbmesh: Python part for ${python} (${python_version}, NumPy ${python_numpy})")

set(python_package ${CMAKE_BINARY_DIR}/python/shmem4py)
add_library(hbmesh_python MODULE ${python_sources})
set_target_properties(hbmesh_python PROPERTIES OUTPUT_NAME _core PREFIX "" SUFFIX ${python_suffix}
    LIBRARY_OUTPUT_DIRECTORY ${python_package} BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN/lib")
# Python's own tables, and ours, leave fields out that are to be zero.
target_compile_options(hbmesh_python PRIVATE -Wall -Wextra -Wno-missing-field-initializers -fvisibility=hidden)
target_include_directories(hbmesh_python SYSTEM PRIVATE ${python_include}) # the headers of others are not ours to mend
target_link_libraries(hbmesh_python PRIVATE hbmesh_shared)

# Links, so that a changed file needs no make.
file(GLOB python_files RELATIVE ${CMAKE_SOURCE_DIR}/python/shmem4py CONFIGURE_DEPENDS
    python/shmem4py/*.py python/shmem4py/*.pyi python/shmem4py/py.typed)
file(MAKE_DIRECTORY ${python_package})
file(GLOB python_links ${python_package}/*.py ${python_package}/*.pyi)
foreach(link IN LISTS python_links)
    if(NOT EXISTS ${link}) # its file is gone
        file(REMOVE ${link})
    endif()
endforeach()
foreach(name IN LISTS python_files)
    if(NOT EXISTS ${python_package}/${name})
        file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/shmem4py/${name} ${python_package}/${name} SYMBOLIC)
    endif()
endforeach()

# The headers as cffi reads them, for shmem4py.api.
file(GLOB public_headers CONFIGURE_DEPENDS include/*.h include/shmem/*.h include/shmem/*.def)
set(python_cdef ${python_package}/_api_cdef.py)
add_custom_command(OUTPUT ${python_cdef}
    COMMAND ${python} ${CMAKE_SOURCE_DIR}/python/make_cdef.py ${CMAKE_SOURCE_DIR}/include ${python_cdef}
        ${CMAKE_C_COMPILER}
    DEPENDS python/make_cdef.py ${public_headers} VERBATIM COMMENT "Declarations for cffi")
add_custom_target(hbmesh_python_cdef ALL DEPENDS ${python_cdef})

# --- in a wheel: pyproject.toml asks for this component alone, and puts the package's files beside it ---
if(SKBUILD)
    # The isolated environment of a build hides what is installed beside it: -I looks past that.
    execute_process(COMMAND ${python} -I ${CMAKE_SOURCE_DIR}/tools/python-facts.py --namesake
        OUTPUT_VARIABLE namesake OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(namesake AND NOT HBMESH_BESIDE_NAMESAKE)
        message(FATAL_ERROR "${namesake} is installed for ${python}, and hbmesh brings a package of that name that would "
            "overwrite half of it. Remove it first: ${python} -m pip uninstall shmem4py\n"
            "(A wheel for another environment: pip wheel -C cmake.define.HBMESH_BESIDE_NAMESAKE=ON)")
    endif()

    set_target_properties(hbmesh_shared PROPERTIES VERSION ${HBMESH_ABI}) # one file: a wheel holds no symbolic links
    install(TARGETS hbmesh_python LIBRARY DESTINATION shmem4py COMPONENT python)
    install(FILES ${python_cdef} DESTINATION shmem4py COMPONENT python)
    install(TARGETS hbmesh_shared LIBRARY DESTINATION shmem4py/lib COMPONENT python NAMELINK_SKIP)
    if(HBMESH_MODULES)
        add_dependencies(hbmesh_shared ${HBMESH_MODULES}) # pyproject.toml names what to build, and not all have them
        install(TARGETS ${HBMESH_MODULES} LIBRARY DESTINATION shmem4py/lib/hbmesh COMPONENT python)
    endif()
    install(TARGETS oshrun oshcc shmem-info RUNTIME DESTINATION shmem4py/bin COMPONENT python)
    # What oshcc links with; libhbmesh.so is a linker's text where elsewhere it is a link.
    file(WRITE ${CMAKE_BINARY_DIR}/wheel/libhbmesh.so "INPUT(libhbmesh.so.${HBMESH_ABI})\n")
    install(FILES ${CMAKE_BINARY_DIR}/wheel/libhbmesh.so ${HBMESH_START} DESTINATION shmem4py/lib COMPONENT python)
    install(DIRECTORY include/ DESTINATION shmem4py/include COMPONENT python
        FILES_MATCHING PATTERN *.h PATTERN *.def)
endif()
