# Writes files into a C source as texts that end with 0:
#   cmake -DOUT=FILE.c -DTEXTS="name=path;name=path" -P embed.cmake
set(source "// Made by cmake/embed.cmake.\n")
foreach(text IN LISTS TEXTS)
    string(REGEX MATCH "^([a-z0-9_]+)=(.*)$" pair ${text})
    set(name ${CMAKE_MATCH_1})
    file(READ ${CMAKE_MATCH_2} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND source "extern const char ${name}[];\nconst char ${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${source}")
