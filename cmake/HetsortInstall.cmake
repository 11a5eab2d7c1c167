# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` adds to the program and the libraries: man pages, documentation, licence, completions. The links of
# README.md and of docs/ also work in the installed folder.

file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.[1-9])
foreach(page ${man_pages})
  string(REGEX MATCH "[1-9]$" section ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE)

# The program prints its completions; where it cannot run, as in a cross build without emulator, they are left out.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  set(completions ${PROJECT_BINARY_DIR}/completions)
  set(places bash bash-completion/completions/hetsort zsh zsh/site-functions/_hetsort fish fish/vendor_completions.d/hetsort.fish)
  while(places)
    list(POP_FRONT places shell place)
    add_custom_command(TARGET hetsort POST_BUILD VERBATIM COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
      COMMAND sh -c "\"$@\" >\"$0\"" ${completions}/${shell} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:hetsort> completion ${shell})
    cmake_path(GET place PARENT_PATH folder)
    cmake_path(GET place FILENAME name)
    install(FILES ${completions}/${shell} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} RENAME ${name})
  endwhile()
endif()
