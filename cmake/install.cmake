# `cmake --install build --prefix X`, and packages (`cpack -G DEB` in the build folder). The program
# finds fringe-metis and fringe-solver beside itself, and configs and small graphs in ../share/fringe from there.
# The manual page and the completion scripts are printed by the program that is installed.
# Component `program` is what a Python wheel holds (pyproject.toml), `system` what else a system gets.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
set(shared_folder ${CMAKE_INSTALL_DATAROOTDIR}/fringe)

# What was not built is left out, but for fringe itself and the METIS that it starts.
install(TARGETS fringe DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS fringe-metis DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET fringe-solver)
    install(TARGETS fringe-solver DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT system OPTIONAL) # links GLPK
endif()
if(TARGET fringe-cuda) # where plugin.c looks for it
    install(TARGETS fringe-cuda DESTINATION lib/fringe OPTIONAL)
endif()
install(DIRECTORY configs data DESTINATION ${shared_folder} PATTERN __pycache__ EXCLUDE)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE
        PATTERN README.md EXCLUDE) # that of the source tree has this name
install(FILES README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

# Debian's python3 looks into this folder of /usr; that of another prefix has to be named.
set(python_folder lib/python3/dist-packages)
install(DIRECTORY python/fringe DESTINATION ${python_folder} COMPONENT system
        PATTERN __pycache__ EXCLUDE)

# One file printed by `fringe help TOPIC`.
set(generated)
function(printed_file topic file)
    set(path ${CMAKE_BINARY_DIR}/share/${file})
    add_custom_command(OUTPUT ${path} DEPENDS fringe VERBATIM
                       COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/share
                       COMMAND fringe help ${topic} > ${path})
    set(generated ${generated} ${path} PARENT_SCOPE)
endfunction()
printed_file(man fringe.1)
printed_file(bash fringe)
printed_file(zsh _fringe)
add_custom_target(manual ALL DEPENDS ${generated})

# All that is installed. The plug-in for all architectures takes a minute or two, which demo.sh and those
# who build `fringe` alone are spared.
add_custom_target(programs DEPENDS manual)
foreach(program fringe fringe-metis fringe-solver fringe-cuda)
    if(TARGET ${program})
        add_dependencies(programs ${program})
    endif()
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/share/fringe.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES ${CMAKE_BINARY_DIR}/share/fringe
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions OPTIONAL)
foreach(folder site-functions vendor-completions) # zsh's own, and that of Debian's packages
    install(FILES ${CMAKE_BINARY_DIR}/share/_fringe
            DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/${folder} OPTIONAL)
endforeach()

# The last line that cmake --install prints.
install(CODE "if(NOT CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    get_filename_component(folder \${CMAKE_INSTALL_PREFIX}/${python_folder} ABSOLUTE)
    message(STATUS \"For `import fringe`: export PYTHONPATH=\${folder}\")
endif()" COMPONENT system)

# --- packages
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fringe)
set(CPACK_PACKAGE_CONTACT "fringe authors <root@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Distributed full-graph training of graph neural networks")
set(CPACK_PACKAGE_DESCRIPTION "fringe cuts a graph into one part per MPI rank and trains a graph \
neural network on all of it in every epoch, with quantized messages on slow networks.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # the libraries; mpirun is a program
set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-numpy, bash-completion")
include(CPack)
