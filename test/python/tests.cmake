# The Python part, by pytest. test_NAME.py runs under oshrun, one test of ctest for each number of PEs ("# npes: 1 2" says
# which; else 1 2 3 8); test_launch_NAME.py starts its jobs itself and runs once, alone. By hand, after make:
#
#   PYTHONPATH=build/python build/bin/oshrun -n 3 python3 -m pytest test/python/test_NAME.py
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
    endif()
    foreach(test IN LISTS tests)
        hbmesh_test_properties(${test} ${file} python ${timeout})
        get_test_property(${test} ENVIRONMENT environment)
        set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment};${python_environment}")
    endforeach()
endfunction()

hbmesh_test_files(python_tests test/python/test_*.py)
foreach(file IN LISTS python_tests)
    hbmesh_test_pytest(${file})
endforeach()
