# What is installed beside the library: manual page, completions, Python module. `cpack` in the build folder makes a .deb of
# all of it. The target mfc_portable is the command as one file without shared libraries, for any Linux of the architecture.

# From the tables of commands and options, by the command itself.
set(manuals "")
function(mfc_manual form file)
  set(path ${PROJECT_BINARY_DIR}/share/${file})
  get_filename_component(folder ${path} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${path} COMMAND mfc manual ${form} -o ${path} DEPENDS mfc VERBATIM)
  set(manuals ${manuals} ${path} PARENT_SCOPE)
  get_filename_component(to ${file} DIRECTORY)
  install(FILES ${path} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${to})
endfunction()
mfc_manual(man man/man1/mfc.1)
mfc_manual(bash bash-completion/completions/mfc)
mfc_manual(zsh zsh/site-functions/_mfc)
mfc_manual(fish fish/vendor_completions.d/mfc.fish)
add_custom_target(mfc_manuals ALL DEPENDS ${manuals})
add_dependencies(installable mfc_manuals)

# Where Debian's python3 looks below /usr. `pip install .` puts the module elsewhere.
install(DIRECTORY frontend/python/mfc DESTINATION lib/python3/dist-packages
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

# The command without shared libraries, and without MPI, which loads its parts when it runs.
add_executable(mfc_portable EXCLUDE_FROM_ALL ${command_sources})
target_compile_definitions(mfc_portable PRIVATE _GNU_SOURCE)
target_include_directories(mfc_portable PRIVATE ${PROJECT_SOURCE_DIR})
target_link_options(mfc_portable PRIVATE -static)
target_link_libraries(mfc_portable PRIVATE $<TARGET_FILE:mfc_static> -Wl,--start-group ${CBC_STATIC_LIBRARIES}
                      ${CLP_STATIC_LIBRARIES} ${JANSSON_STATIC_LIBRARIES} ${PROTOBUF_C_STATIC_LIBRARIES} gfortran quadmath
                      -Wl,--end-group)
add_dependencies(mfc_portable mfc_static)
set_target_properties(mfc_portable PROPERTIES LINKER_LANGUAGE CXX)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mfc)
set(CPACK_PACKAGE_VENDOR "the authors of mfc")
set(CPACK_PACKAGE_CONTACT "the authors of mfc <authors@mfc.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "turns ONNX models into training steps that fit a memory budget")
set(CPACK_PACKAGE_DESCRIPTION
    "mfc adds loss, gradients and optimizer to an ONNX model, and plans which
results to keep and which to recompute, at the least overhead within a budget
of memory. Plans run on stock ONNX Runtime. The package has the command, the
library with its headers, and a Python module.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # and ldconfig runs
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS python3)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "python3-numpy, coinor-libcbc-dev, coinor-libclp-dev, coinor-libcoinutils-dev, libjansson-dev, libprotobuf-c-dev")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/third_party/package_docs.cmake)
include(CPack)
