# The Python part, by pytest. test_NAME.py runs under oshrun, one test of ctest for each number of PEs ("# npes: 1 2" says
# which; else 1 2 3 8); test_launch_NAME.py starts its jobs itself and runs once, alone. By hand, after make:
#
#   PYTHONPATH=build/python build/bin/oshrun -n 3 python3 -m pytest test/python/test_NAME.py
#
# test_device.py and test_launch_device.py have their heaps on the software NPU, and the former runs as two machines, too; by
# hand: oshrun --twin.
if(NOT HBMESH_PYTHON_EXECUTABLE)
    return()
endif()
if(NOT "pytest" IN_LIST HBMESH_PYTHON_MODULES)
    message(STATUS "hbmesh: without the Python tests: ${HBMESH_PYTHON_EXECUTABLE} has no pytest")
    return()
endif()

# The tests lie in the source tree, and what Python compiles of them stays out of it.
set(python_environment PYTHONPATH=${CMAKE_BINARY_DIR}/python PYTHONPYCACHEPREFIX=${CMAKE_BINARY_DIR}/test/python/cache
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1)

function(hbmesh_test_pytest file)
    get_filename_component(stem ${file} NAME_WE)
    set(pytest ${HBMESH_PYTHON_EXECUTABLE} -m pytest ${file})
    hbmesh_test_says(npes ${file} npes)
    hbmesh_test_says(timeout ${file} timeout)
    if(NOT timeout)
        set(timeout 180)
    endif()
    if(stem MATCHES "^test_launch_")
        set(tests python/${stem})
        add_test(NAME python/${stem} COMMAND ${pytest})
        set_tests_properties(python/${stem} PROPERTIES PROCESSORS 2)
    else()
        if(NOT npes)
            set(npes 1 2 3 8)
        endif()
        foreach(n IN LISTS npes)
            add_test(NAME python/${stem}@${n} COMMAND oshrun --timeout ${timeout} -n ${n} ${pytest})
            set_tests_properties(python/${stem}@${n} PROPERTIES PROCESSORS ${n})
            list(APPEND tests python/${stem}@${n})
        endforeach()
        hbmesh_test_says(machines ${file} machines)
        if(machines AND ucx IN_LIST HBMESH_TRANSPORTS)
            add_test(NAME python/${stem}@machines COMMAND oshrun --timeout ${timeout} --machines 2 -n ${machines} ${pytest})
            set_tests_properties(python/${stem}@machines PROPERTIES PROCESSORS ${machines})
            list(APPEND tests python/${stem}@machines)
        endif()
    endif()
    foreach(test IN LISTS tests)
        hbmesh_test_properties(${test} ${file} python ${timeout})
        get_test_property(${test} ENVIRONMENT environment)
        set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment};${python_environment}")
    endforeach()
    set(tests ${tests} PARENT_SCOPE)
endfunction()

# Each test has a node of the twin to itself, and what may be seen late is seen late.
string(MD5 python_tree ${CMAKE_BINARY_DIR})
string(SUBSTRING ${python_tree} 0 8 python_tree)
function(hbmesh_test_python_on_twin)
    foreach(test IN LISTS ARGN)
        string(MAKE_C_IDENTIFIER "${test}-${python_tree}" node)
        get_test_property(${test} ENVIRONMENT environment)
        set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment};SHMEM_HEAP_KIND=ascend;\
SHMEM_ASCEND_LIBRARY=$<TARGET_FILE:hbmesh_twin>;HBMESH_TWIN_LATE=1;HBMESH_TWIN_NODE=${node}")
    endforeach()
endfunction()

hbmesh_test_files(python_tests test/python/test_*.py)
foreach(file IN LISTS python_tests)
    get_filename_component(stem ${file} NAME_WE)
    if(NOT stem MATCHES "^test_(launch_)?device")
        hbmesh_test_pytest(${file})
    elseif(TARGET hbmesh_twin)
        hbmesh_test_pytest(${file})
        hbmesh_test_python_on_twin(${tests})
    endif()
endforeach()
