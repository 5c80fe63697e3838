// What was found of CUDA on this machine, for people.
#pragma once

#include <string>

namespace ricci::cuda {

/// Lines "GPU  ...": devices, driver, compiler, kernel cache; or why there is none.
std::string describe_gpus();

}  // namespace ricci::cuda
