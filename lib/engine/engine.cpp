// Placeholder while the planner grows: runs every program through the reference.
#include <ricci/core/error.hpp>
#include <ricci/engine/engine.hpp>

#include "program/reference.hpp"

namespace ricci {
class executable { public: program p; };
std::shared_ptr<const executable> compile(const program& p, const options&) {
  return std::make_shared<executable>(executable{p});
}
void run(const executable& e, const bindings& b) {
  for (int s = 0; s < static_cast<int>(e.p.statements.size()); ++s) store(e.p, s, b, evaluate(e.p, s, b));
}
std::string describe(const executable&) { return "reference"; }
double flops(const executable&) { return 0; }
double bytes(const executable&) { return 0; }
}  // namespace ricci
