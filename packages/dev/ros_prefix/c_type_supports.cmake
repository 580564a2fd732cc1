# What overlay.sh has CMake include after project() where no C++ program can use the messages: their type supports for C and
# Python alone, and one translation unit for each library of them.

# Both register the generators; who finds them again later changes nothing.
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")

function(join_sources)
  foreach(kind rosidl_typesupport_c rosidl_typesupport_fastrtps_c rosidl_typesupport_introspection_c)
    if(TARGET ${PROJECT_NAME}__${kind})
      set_target_properties(${PROJECT_NAME}__${kind} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL join_sources)
