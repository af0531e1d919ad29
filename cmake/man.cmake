# The manual pages: doc/man and the tables of options give build/man, which man -M reads.
file(GLOB man_pages CONFIGURE_DEPENDS doc/man/*.[137])
set(man_stamp ${CMAKE_BINARY_DIR}/man/man3/shmem_rma.3)
add_custom_command(OUTPUT ${man_stamp}
    COMMAND sh ${CMAKE_SOURCE_DIR}/doc/man/make.sh ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/man ${PROJECT_VERSION}
        ${CMAKE_SOURCE_DIR}/test/abi/symbols.txt
    DEPENDS ${man_pages} doc/man/make.sh src/base/option.def tools/oshrun/options.def test/abi/symbols.txt
        include/shmem/generic.h include/shmem/genericx.h src/base/version.h
    COMMENT "Manual pages" VERBATIM)
add_custom_target(man ALL DEPENDS ${man_stamp})
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
