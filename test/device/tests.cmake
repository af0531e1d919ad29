# Device memory on the software NPU: ctest -L device. Every spec test with its heap there, and the programs of this folder.
# What may be seen late is seen late; each job has a node, and so a driver, of its own.
#
# A spec test that the CPU's own access is about says "not-for-devices:" and why.
string(MD5 device_tree ${CMAKE_BINARY_DIR})
string(SUBSTRING ${device_tree} 0 8 device_tree)

function(hbmesh_test_on_twin test file)
    hbmesh_test_says(env ${file} env)
    string(MAKE_C_IDENTIFIER "${test}-${device_tree}" node)
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${test_environment};${env};SHMEM_HEAP_KIND=ascend;\
SHMEM_ASCEND_LIBRARY=${CMAKE_BINARY_DIR}/twin/libascendcl.so;HBMESH_TWIN_LATE=1;HBMESH_TWIN_NODE=${node}")
endfunction()

# With 2 and 3 PEs each time, with 1 and 8 in the long run.
set(device_npes 1 2 3 8)
function(hbmesh_test_device_jobs name file)
    hbmesh_test_says(npes ${file} npes)
    if(NOT npes)
        set(npes ${device_npes})
    endif()
    foreach(n IN LISTS npes)
        hbmesh_test_on_twin(${name}@${n} ${file})
        if(n EQUAL 1 OR n GREATER_EQUAL 8)
            set_property(TEST ${name}@${n} APPEND PROPERTY LABELS long)
        endif()
    endforeach()
endfunction()

hbmesh_test_files(files test/device/*.c)
foreach(file IN LISTS files)
    get_filename_component(stem ${file} NAME_WE)
    hbmesh_test_program(device ${file})
    hbmesh_test_device_jobs(device/${stem} ${file})
endforeach()

hbmesh_test_files(files test/spec/*.c test/spec/*.cpp)
foreach(file IN LISTS files)
    hbmesh_test_says(reason ${file} not-for-devices)
    if(NOT reason)
        get_filename_component(stem ${file} NAME)
        string(REGEX REPLACE "\\.(c|cpp)$" "" stem ${stem})
        hbmesh_test_says(npes ${file} npes)
        if(NOT npes)
            set(npes ${device_npes})
        endif()
        hbmesh_test_launch(device/spec_${stem} ${file} device test-spec-${stem} "${npes}")
        hbmesh_test_device_jobs(device/spec_${stem} ${file})
    endif()
endforeach()
