#include "ricci/program/program.hpp"
