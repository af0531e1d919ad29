# Teams on several machines, which are make-believe ones (oshrun --machines): programs of this folder, and those of the spec
# suite that are about teams and collectives. The programs say in SHMEM_MACHINES which machines there are.
if(NOT TARGET hbmesh-ucx)
    foreach(test agree reproducible)
        set_tests_properties(span/${test} PROPERTIES DISABLED ON)
    endforeach()
    add_test(NAME span/spec COMMAND sh -c
        "echo 'skipped: the transport ucx is not built here (Debian: libucx-dev)'; exit 77")
    set_tests_properties(span/spec PROPERTIES SKIP_RETURN_CODE 77 LABELS span)
    return()
endif()
hbmesh_test_files(files test/span/*.c)
foreach(file IN LISTS files)
    hbmesh_test_program(span ${file})
endforeach()

# machines, number of PEs, programs
function(hbmesh_test_span machines n)
    foreach(stem IN LISTS ARGN)
        set(file ${CMAKE_SOURCE_DIR}/test/spec/${stem}.c)
        hbmesh_test_says(args ${file} args)
        hbmesh_test_says(timeout ${file} timeout)
        if(NOT timeout)
            set(timeout 60)
        endif()
        add_test(NAME span/${stem}@${machines} COMMAND oshrun --timeout ${timeout} -n ${n} --machines ${machines}
            $<TARGET_FILE:test-spec-${stem}> ${args})
        hbmesh_test_properties(span/${stem}@${machines} ${file} span 60)
        set_tests_properties(span/${stem}@${machines} PROPERTIES PROCESSORS ${n} LABELS "span;ucx")
        if(n GREATER_EQUAL 8)
            set_tests_properties(span/${stem}@${machines} PROPERTIES RUN_SERIAL ON)
        endif()
    endforeach()
endfunction()
hbmesh_test_span(3+1 4 agree coll_active coll_large coll_random coll_reduce coll_types coll_zero ctx_teams heap_barrier
    is_valid sync_pe team_churn team_split team_stale)
hbmesh_test_span(1+2+5 8 coll_active coll_large coll_random team_churn team_split)
hbmesh_test_span(cyclic:2 4 coll_active coll_large coll_random team_split)
hbmesh_test_span(list:0,1,1,0,0,1 6 coll_active coll_random team_split)
hbmesh_test_span(9 9 coll_active coll_large coll_zero team_split) # more machines than tell each other in pairs
