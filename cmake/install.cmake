# What make install puts where, and how other build systems find it. Nothing here holds an absolute path: the wrappers,
# the pkg-config and the CMake files find the rest from where they lie.
include(CMakePackageConfigHelpers)

install(TARGETS hbmesh_shared hbmesh_static LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(HBMESH_MODULES)
    install(TARGETS ${HBMESH_MODULES} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hbmesh)
endif()
install(TARGETS hbmesh_twin hbmesh_twin_driver LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hbmesh/twin
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/hbmesh/twin)
if(HBMESH_START)
    install(FILES ${HBMESH_START} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h PATTERN *.def)
foreach(tool oshrun oshcc shmem-info)
    if(TARGET ${tool})
        install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
endforeach()
foreach(alias IN LISTS HBMESH_WRAPPER_ALIASES)
    install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${alias} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()
foreach(doc README.md README.zh-CN.md LICENSE CHANGELOG.md)
    if(EXISTS ${CMAKE_SOURCE_DIR}/${doc})
        install(FILES ${doc} DESTINATION ${CMAKE_INSTALL_DOCDIR})
    endif()
endforeach()

install(FILES doc/guide.md doc/machines.md doc/scale.md doc/design.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/doc)

# Writes the files for a library folder that lies at `libdir` under a prefix.
function(hbmesh_package_files out libdir)
    file(RELATIVE_PATH PREFIX_FROM_LIBDIR /${libdir} /)
    string(REGEX REPLACE "/$" "" PREFIX_FROM_LIBDIR ${PREFIX_FROM_LIBDIR})
    set(LIBDIR ${libdir})
    set(PC_START)
    if(HBMESH_START)
        set(PC_START "\${libdir}/hbmesh-start.o ")
    endif()
    foreach(pc hbmesh openshmem)
        configure_file(cmake/${pc}.pc.in ${out}/pkgconfig/${pc}.pc @ONLY)
    endforeach()
    configure_file(cmake/hbmeshConfig.cmake.in ${out}/cmake/hbmesh/hbmeshConfig.cmake @ONLY)
    configure_file(cmake/OpenSHMEMConfig.cmake.in ${out}/cmake/OpenSHMEM/OpenSHMEMConfig.cmake @ONLY)
    write_basic_package_version_file(${out}/cmake/hbmesh/hbmeshConfigVersion.cmake
        VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
    write_basic_package_version_file(${out}/cmake/OpenSHMEM/OpenSHMEMConfigVersion.cmake
        VERSION 1.6 COMPATIBILITY SameMajorVersion)
endfunction()
hbmesh_package_files(${CMAKE_BINARY_DIR}/lib lib) # the build folder can be used as a prefix, too
hbmesh_package_files(${CMAKE_BINARY_DIR}/package ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/package/ DESTINATION ${CMAKE_INSTALL_LIBDIR})
