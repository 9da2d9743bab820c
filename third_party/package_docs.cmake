# What Debian wants of a package, and `cmake --install` does not do: copyright, change log, a compressed manual page, and the
# completions of zsh where Debian's zsh looks for those of packages. cpack runs this between the installation and the making of the package.
set(top ${CMAKE_CURRENT_LIST_DIR}/..)
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
set(docs ${root}/share/doc/mfc)
file(MAKE_DIRECTORY ${docs})
file(READ ${top}/LICENSE licence)
file(WRITE ${docs}/copyright "mfc, and what it links: see third_party/README.md in its source.\n\n${licence}")
configure_file(${top}/CHANGELOG.md ${docs}/NEWS COPYONLY)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${docs}/changelog
     "mfc (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * See NEWS.gz.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
execute_process(COMMAND gzip -9nf ${docs}/changelog ${docs}/NEWS ${root}/share/man/man1/mfc.1 COMMAND_ERROR_IS_FATAL ANY)
file(CHMOD ${docs}/copyright ${docs}/changelog.gz ${docs}/NEWS.gz ${root}/share/man/man1/mfc.1.gz
     PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
file(MAKE_DIRECTORY ${root}/share/zsh/vendor-completions)
file(RENAME ${root}/share/zsh/site-functions/_mfc ${root}/share/zsh/vendor-completions/_mfc)
file(REMOVE_RECURSE ${root}/share/zsh/site-functions)
