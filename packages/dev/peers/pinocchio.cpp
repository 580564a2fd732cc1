// Times of Pinocchio's algorithms, nanoseconds a call, one JSON object a line.
//
// Usage: pinocchio_times NAME=model:FILE ... NAME=chain:N ...
// A model is a file that Pinocchio's Python wrote (`model.saveToBinary`): the wheel ships no headers of the URDF parser. Links
// the library as the `pin` wheel ships it. Each number is the median of 41 batches of about 2 ms, after one
// batch of warm-up, at 16 states in turn; CPU time of this thread, so that a busy machine does not count.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "pinocchio/multibody.hpp"
#include "pinocchio/serialization.hpp"
#include "pinocchio/algorithm/aba.hpp"
#include "pinocchio/algorithm/centroidal.hpp"
#include "pinocchio/algorithm/cholesky.hpp"
#include "pinocchio/algorithm/crba.hpp"
#include "pinocchio/algorithm/jacobian.hpp"
#include "pinocchio/algorithm/joint-configuration.hpp"
#include "pinocchio/algorithm/kinematics.hpp"
#include "pinocchio/algorithm/rnea-derivatives.hpp"
#include "pinocchio/algorithm/rnea.hpp"

using namespace pinocchio;

static double cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

static double median_ns(const std::function<void(int)> &call) {
  int batch = 16;
  for (;;) {
    const double start = cpu_ns();
    for (int i = 0; i < batch; ++i) call(i % 16);
    if (cpu_ns() - start > 2e6) break;
    batch *= 2;
  }
  std::vector<double> times;
  for (int n = 0; n < 41; ++n) {
    const double start = cpu_ns();
    for (int i = 0; i < batch; ++i) call(i % 16);
    times.push_back((cpu_ns() - start) / batch);
  }
  std::nth_element(times.begin(), times.begin() + 20, times.end());
  return times[20];
}

static Model chain(int n) {
  Model model;
  JointIndex parent = 0;
  for (int i = 0; i < n; ++i) {
    const SE3 offset(SE3::Matrix3::Identity(), SE3::Vector3(0.0, 0.0, i == 0 ? 0.0 : -0.1));
    const std::string name = "joint" + std::to_string(i);
    parent = i % 2 ? model.addJoint(parent, JointModelRX(), offset, name)
                   : model.addJoint(parent, JointModelRY(), offset, name);
    const Inertia inertia(0.5, Inertia::Vector3(0.0, 0.0, -0.05),
                          Inertia::Matrix3::Identity() * 1e-3);
    model.appendBodyToJoint(parent, inertia, SE3::Identity());
  }
  return model;
}

static void measure(const std::string &name, const Model &model) {
  Data data(model);
  std::vector<Eigen::VectorXd> q, v, a;
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(model.nq);
  for (int i = 0; i < 16; ++i) {
    q.push_back(randomConfiguration(model, -ones, ones));
    v.push_back(Eigen::VectorXd::Random(model.nv));
    a.push_back(Eigen::VectorXd::Random(model.nv));
  }
  auto print = [&](const char *algorithm, const std::function<void(int)> &call) {
    std::printf("{\"model\":\"%s\",\"nv\":%d,\"algorithm\":\"%s\",\"ns\":%.1f}\n", name.c_str(),
                model.nv, algorithm, median_ns(call));
    std::fflush(stdout);
  };
  print("fk", [&](int i) { forwardKinematics(model, data, q[i]); });
  print("rnea", [&](int i) { rnea(model, data, q[i], v[i], a[i]); });
  print("aba", [&](int i) { aba(model, data, q[i], v[i], a[i]); });
  print("crba", [&](int i) { crba(model, data, q[i]); });
  print("jacobians", [&](int i) { computeJointJacobians(model, data, q[i]); });
  print("centroidal", [&](int i) { computeCentroidalMap(model, data, q[i]); });
  print("rnea_derivatives", [&](int i) { computeRNEADerivatives(model, data, q[i], v[i], a[i]); });
  print("crba_ldl", [&](int i) {
    crba(model, data, q[i]);
    cholesky::decompose(model, data);
  });
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument(argv[i]);
    const auto equals = argument.find('='), colon = argument.rfind(':');
    const std::string name = argument.substr(0, equals);
    const std::string what = argument.substr(equals + 1, colon - equals - 1);
    const std::string how = argument.substr(colon + 1);
    Model model;
    if (what == "chain") model = chain(std::stoi(how));
    else serialization::loadFromBinary(model, how);
    measure(name, model);
  }
}
