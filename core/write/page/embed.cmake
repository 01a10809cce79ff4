# Writes OUTPUT, a C++ file that holds the text of report.css and of the scripts in FOLDER.
file(READ ${FOLDER}/report.css style)
set(script "")
foreach(name source report)
    file(READ ${FOLDER}/${name}.js part)
    string(APPEND script "${part}")
endforeach()
file(WRITE ${OUTPUT} "// Made by core/write/page/embed.cmake.\n#include \"core/write/source_lines.h\"\n\n"
     "namespace coalprof {\n\n"
     "std::string_view page_style() { return R\"embedded(${style})embedded\"; }\n\n"
     "std::string_view page_script() { return R\"embedded(${script})embedded\"; }\n\n"
     "}  // namespace coalprof\n")
