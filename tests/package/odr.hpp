// What the two files of the one-definition test call of each other.
#pragma once

namespace odr {
double here(double x);
double there(double x);
}  // namespace odr
