# Every name of the API, called with checked values: see make_names.py.
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
    message(WARNING "no Python 3: the tests of every name of the API are left out")
    return()
endif()

set(names_folder ${CMAKE_SOURCE_DIR}/test/names)
file(GLOB names_texts CONFIGURE_DEPENDS ${names_folder}/*.h ${names_folder}/*.tsv ${names_folder}/families/*.inc)
foreach(kind c twin generic overload)
    set(flags -std=gnu99)
    set(suffix c)
    if(kind STREQUAL generic)
        set(flags -std=c11)
    elseif(kind STREQUAL overload)
        set(flags -std=c++11)
        set(suffix cpp)
    endif()
    set(source ${CMAKE_BINARY_DIR}/test/names/${kind}.${suffix})
    add_custom_command(OUTPUT ${source}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/test/names
        COMMAND ${Python3_EXECUTABLE} ${names_folder}/make_names.py ${kind} ${source}
        DEPENDS ${names_folder}/make_names.py ${names_texts} VERBATIM COMMENT "Test of every name: ${kind}")
    set(target test-names-${kind})
    add_executable(${target} EXCLUDE_FROM_ALL ${source} ${HBMESH_START})
    add_dependencies(tests ${target})
    if(HBMESH_START)
        add_dependencies(${target} hbmesh_start)
    endif()
    set_target_properties(${target} PROPERTIES OUTPUT_NAME names-${kind}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/names)
    # Big, plain programs: optimising them would only take time. The flag of the standard must be the last one.
    target_compile_options(${target} PRIVATE -Wall -Wextra -O0 ${flags})
    target_include_directories(${target} PRIVATE include ${names_folder})
    target_link_libraries(${target} PRIVATE hbmesh_shared)
    foreach(n 1 2 3)
        add_test(NAME names/${kind}@${n} COMMAND oshrun --timeout 120 -n ${n} $<TARGET_FILE:${target}>)
        set_tests_properties(names/${kind}@${n} PROPERTIES TIMEOUT 130 LABELS names PROCESSORS ${n}
            ENVIRONMENT "${test_environment}")
    endforeach()
endforeach()
