# libmfc as others link it, and where `cmake --install` puts everything.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The statement on compatibility is in frontend/mfc.h.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(soversion 0.${PROJECT_VERSION_MINOR})
  set(compatibility SameMinorVersion)
else()
  set(soversion ${PROJECT_VERSION_MAJOR})
  set(compatibility SameMajorVersion)
endif()

add_library(mfc_shared SHARED ${objects})
set_target_properties(mfc_shared PROPERTIES OUTPUT_NAME mfc VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
                                            LINKER_LANGUAGE CXX
                                            EXPORT_NAME mfc)
target_link_libraries(mfc_shared PRIVATE ${MFC_LIBS})
target_include_directories(mfc_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# The static library: all objects as one, with the hidden symbols made local, so that its inner names
# cannot clash with a caller's.
set(whole ${PROJECT_BINARY_DIR}/mfc_whole.o)
set(archive ${PROJECT_BINARY_DIR}/libmfc.a)
add_custom_command(
  OUTPUT ${archive}
  COMMAND ${CMAKE_LINKER} -r -o ${whole} ${objects}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
  COMMAND ${CMAKE_AR} qcs ${archive} ${whole}
  DEPENDS ${objects} ${module_targets} onnx_proto
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(mfc_archive ALL DEPENDS ${archive})
# What `cmake --install` needs; scripts/mfc builds it.
add_custom_target(installable DEPENDS mfc mfc_shared mfc_archive)

# Both files find the rest from where they are, so that the installed tree can be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(third_party/mfc.pc.in mfc.pc @ONLY)
configure_package_config_file(third_party/mfcConfig.cmake.in mfcConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mfc
                              PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(mfcConfigVersion.cmake COMPATIBILITY ${compatibility})

install(TARGETS mfc RUNTIME)
install(TARGETS mfc_shared EXPORT mfcTargets LIBRARY)
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES frontend/mfc.h TYPE INCLUDE)
install(FILES frontend/mfc_solve.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mfc RENAME solve.h)
install(FILES ${PROJECT_BINARY_DIR}/mfc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT mfcTargets NAMESPACE mfc:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mfc)
install(FILES ${PROJECT_BINARY_DIR}/mfcConfig.cmake ${PROJECT_BINARY_DIR}/mfcConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mfc)
