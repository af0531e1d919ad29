# Tests are found by where they lie; a new file needs no line here.
#
#   test/spec/*.c, *.cpp      API programs, as a user would build them; under oshrun with 1, 2, 3 and 8 PEs
#   test/stress/              the same with 2 and 8 PEs
#   test/regress/             one file for each bug that was, a program (2 PEs) or a script
#   test/conform/             contract suites: linked with the static library, may include src/; run alone
#   test/unit/                parts of the library: only the sources named in "with:"; run alone
#   test/fuzz/                the same with AddressSanitizer and UBSan
#   test/threads/             the same with ThreadSanitizer
#   test/launch/*.sh ...      every other folder: scripts, run by bash in an empty folder. They find OSHCC, OSHCXX,
#                             OSHRUN, BUILD, SRC, CC, CXX and PYTHON (empty: no Python part) in the environment
#   test/python/*.py          pytest files: see its tests.cmake
#   test/hosts/*.sh           the same on two and three make-believe hosts, which the tests set up: see its lib.sh
#   test/twin/                the software NPU's own: see its tests.cmake
#   test/ucx/                 scripts about the transport ucx, and the spec suite over it: see its tests.cmake
#
# A program says what it needs in comments of its own, each on a line (scripts: "# key: value"):
#   /* npes: 2 4 */  /* args: ... */  /* env: A=B C=D */  /* timeout: 120 */  /* label: long */
#   /* cflags: -std=c11 */  /* libs: -lm */  /* with: src/core/heap.c */
# A script that mostly waits, or has one process at work, says "# cores: 1": another may run beside it.
#
# Exit status 0 passed, 77 skipped, all else failed. A folder may hold a tests.cmake for what does not fit.

set(HBMESH_EMULATOR ${CMAKE_CROSSCOMPILING_EMULATOR})
set(test_environment OSHCC=${CMAKE_BINARY_DIR}/bin/oshcc OSHCXX=${CMAKE_BINARY_DIR}/bin/oshc++
    OSHRUN=${CMAKE_BINARY_DIR}/bin/oshrun BUILD=${CMAKE_BINARY_DIR} SRC=${CMAKE_SOURCE_DIR}
    CC=${CMAKE_C_COMPILER} CXX=${CMAKE_CXX_COMPILER} LC_ALL=C PYTHON=${HBMESH_PYTHON_EXECUTABLE}
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
    ASAN_OPTIONS=detect_leaks=0:abort_on_error=1)
if(HBMESH_SANITIZE)
    set(spec_npes 2 3)
    set(stress_npes 2)
else()
    set(spec_npes 1 2 3 8)
    set(stress_npes 2 8)
endif()
set(regress_npes 2)
add_custom_target(tests)

# ThreadSanitizer knows only some layouts of the address space: it wants randomisation off where that can be had.
find_program(HBMESH_SETARCH setarch)
set(unrandomised)
if(HBMESH_SETARCH AND NOT CMAKE_CROSSCOMPILING)
    execute_process(COMMAND ${HBMESH_SETARCH} -R true RESULT_VARIABLE rc OUTPUT_QUIET ERROR_QUIET)
    if(rc EQUAL 0)
        set(unrandomised ${HBMESH_SETARCH} -R)
    endif()
endif()

# What a file says is read when CMake runs: it runs again when the file has changed.
function(hbmesh_test_files variable)
    file(GLOB files CONFIGURE_DEPENDS ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
    set(${variable} "${files}" PARENT_SCOPE)
endfunction()

# What the file says behind "key:", as a list of words; empty when it says nothing.
function(hbmesh_test_says variable file key)
    file(STRINGS ${file} lines LIMIT_COUNT 20 REGEX "^ *(/\\*|//|#) *${key}:")
    set(words)
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^ *(/\\*|//|#) *${key}: *(.*)$" "\\2" line "${line}")
        string(REGEX REPLACE " *\\*/ *$" "" line "${line}")
        separate_arguments(line UNIX_COMMAND "${line}")
        list(APPEND words ${line})
    endforeach()
    set(${variable} "${words}" PARENT_SCOPE)
endfunction()

function(hbmesh_test_properties name file folder default_timeout)
    hbmesh_test_says(timeout ${file} timeout)
    hbmesh_test_says(labels ${file} label)
    hbmesh_test_says(env ${file} env)
    if(NOT timeout)
        set(timeout ${default_timeout})
    endif()
    math(EXPR timeout "${timeout} + 10") # the launcher's own limit comes first: it says who waits for whom
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} SKIP_RETURN_CODE 77
        LABELS "${folder};${labels}" ENVIRONMENT "${test_environment};${env}")
endfunction()

function(hbmesh_test_launch name file folder target npes)
    hbmesh_test_says(args ${file} args)
    hbmesh_test_says(timeout ${file} timeout)
    if(NOT timeout)
        set(timeout 60)
    endif()
    foreach(n IN LISTS npes)
        add_test(NAME ${name}@${n} COMMAND oshrun --timeout ${timeout} -n ${n}
            ${HBMESH_EMULATOR} $<TARGET_FILE:${target}> ${args})
        hbmesh_test_properties(${name}@${n} ${file} ${folder} 60)
        set_tests_properties(${name}@${n} PROPERTIES PROCESSORS ${n})
        if(n GREATER_EQUAL 8)
            set_tests_properties(${name}@${n} PROPERTIES RUN_SERIAL ON)
        endif()
    endforeach()
endfunction()

function(hbmesh_test_program folder file)
    get_filename_component(stem ${file} NAME)
    string(REGEX REPLACE "\\.(c|cpp)$" "" stem ${stem})
    set(target test-${folder}-${stem})
    set(name ${folder}/${stem})
    hbmesh_test_says(cflags ${file} cflags)
    hbmesh_test_says(libs ${file} libs)
    hbmesh_test_says(npes ${file} npes)
    hbmesh_test_says(with ${file} with)
    list(TRANSFORM with PREPEND ${CMAKE_SOURCE_DIR}/)

    add_executable(${target} EXCLUDE_FROM_ALL ${file} ${with})
    add_dependencies(tests ${target})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${stem}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/${folder})
    # Less optimisation than users ask for: some of these are large, and it is the library that is tested.
    target_compile_options(${target} PRIVATE -O1 -g1 -Wall -Wextra ${cflags})
    target_link_libraries(${target} PRIVATE Threads::Threads)

    if(folder MATCHES "^(unit|fuzz|threads)$")
        target_include_directories(${target} PRIVATE src include)
        if(folder STREQUAL fuzz)
            set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
        elseif(folder STREQUAL threads)
            set(sanitize -fsanitize=thread)
        endif()
        target_compile_options(${target} PRIVATE ${sanitize})
        target_link_options(${target} PRIVATE ${sanitize})
    elseif(folder STREQUAL conform)
        target_link_libraries(${target} PRIVATE hbmesh_flags hbmesh_static)
    else()
        # As a user would build it: the public headers, and nothing else of ours.
        target_include_directories(${target} PRIVATE include)
        if(HBMESH_SANITIZE)
            target_compile_options(${target} PRIVATE -fsanitize=${HBMESH_SANITIZE})
            target_link_options(${target} PRIVATE -fsanitize=${HBMESH_SANITIZE})
        endif()
        target_link_libraries(${target} PRIVATE hbmesh_shared)
        if(HBMESH_START)
            target_sources(${target} PRIVATE ${HBMESH_START})
            set_source_files_properties(${HBMESH_START} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
            add_dependencies(${target} hbmesh_start)
        endif()
        if(NOT npes)
            set(npes ${${folder}_npes})
        endif()
    endif()
    target_link_libraries(${target} PRIVATE ${libs})

    if(npes AND TARGET oshrun)
        hbmesh_test_launch(${name} ${file} ${folder} ${target} "${npes}")
    elseif(NOT npes)
        hbmesh_test_says(args ${file} args)
        set(before)
        if(folder STREQUAL threads)
            set(before ${unrandomised})
        endif()
        add_test(NAME ${name} COMMAND ${before} ${HBMESH_EMULATOR} $<TARGET_FILE:${target}> ${args})
        hbmesh_test_properties(${name} ${file} ${folder} 60)
    endif()
endfunction()

find_program(HBMESH_BASH bash)
function(hbmesh_test_script folder file)
    get_filename_component(stem ${file} NAME_WE)
    set(name ${folder}/${stem})
    set(work ${CMAKE_BINARY_DIR}/test/work/${folder}-${stem})
    hbmesh_test_says(args ${file} args)
    add_test(NAME ${name} COMMAND ${HBMESH_BASH} ${CMAKE_SOURCE_DIR}/cmake/run-script.sh ${work} ${file} ${args})
    hbmesh_test_properties(${name} ${file} ${folder} 60)
    hbmesh_test_says(cores ${file} cores)
    if(NOT cores)
        set(cores 2)
    endif()
    set_tests_properties(${name} PROPERTIES PROCESSORS ${cores})
endfunction()

set(program_folders spec stress regress conform unit fuzz threads)
if(HBMESH_SANITIZE OR CMAKE_CROSSCOMPILING)
    set(program_folders spec stress regress)
endif()
foreach(folder IN LISTS program_folders)
    hbmesh_test_files(files test/${folder}/*.c test/${folder}/*.cpp)
    foreach(file IN LISTS files)
        hbmesh_test_program(${folder} ${file})
    endforeach()
endforeach()

if(NOT HBMESH_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    hbmesh_test_files(files test/*/*.sh)
    foreach(file IN LISTS files)
        get_filename_component(folder ${file} DIRECTORY)
        get_filename_component(folder ${folder} NAME)
        if(NOT file MATCHES "/lib(_[a-z]+)?\\.sh$") # what scripts share
            hbmesh_test_script(${folder} ${file})
        endif()
    endforeach()
    file(GLOB files CONFIGURE_DEPENDS test/*/tests.cmake)
    foreach(file IN LISTS files)
        include(${file})
    endforeach()
endif()
