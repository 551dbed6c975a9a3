// Forward dynamics by Pinocchio, for bench/peer_pinocchio.py to call.
#include <pinocchio/multibody.hpp>

#include <pinocchio/algorithm/aba.hpp>

using namespace pinocchio;
using Vector3 = Eigen::Vector3d;
using Map = Eigen::Map<Eigen::VectorXd>;

struct System {
  Model model;
  Data data;
};

// the hinges of rbt_ros.core.types.JointKind that the benchmarks use; axes along x, y, z have faster joints of their own
static JointIndex add_joint(Model& model, JointIndex parent, int kind, const Vector3& axis, const SE3& place, int i) {
  const std::string name = "h" + std::to_string(i);
  if (kind == 5) return model.addJoint(parent, JointModelSpherical(), place, name);
  if (axis == Vector3::UnitX()) return model.addJoint(parent, JointModelRX(), place, name);
  if (axis == Vector3::UnitY()) return model.addJoint(parent, JointModelRY(), place, name);
  if (axis == Vector3::UnitZ()) return model.addJoint(parent, JointModelRZ(), place, name);
  return model.addJoint(parent, JointModelRevoluteUnaligned(axis), place, name);
}

extern "C" {

// rows of body: mass, centre of mass 3, principal moments 3, hinge point 3, axis 3
System* make(int n, const long* parent, const long* kind, const double* body, double g) {
  Model model;
  model.gravity.linear() = Vector3(0, 0, -g);
  for (int i = 0; i < n; i++) {
    const double* row = body + 13 * i;
    const Vector3 com(row[1], row[2], row[3]), moments(row[4], row[5], row[6]);
    const SE3 place(Eigen::Matrix3d::Identity(), Vector3(row[7], row[8], row[9]));
    const JointIndex joint =
        add_joint(model, JointIndex(parent[i] + 1), int(kind[i]), Vector3(row[10], row[11], row[12]), place, i);
    model.appendBodyToJoint(joint, Inertia(row[0], com, Eigen::Matrix3d(moments.asDiagonal())), SE3::Identity());
  }
  return new System{model, Data(model)};
}

// vdot at (q, v) without efforts, computed `times` times: each evaluation waits for the one before
void evaluate(System* system, double* q, double* v, double* vdot, int times, int in_world_axes) {
  Model& model = system->model;
  Data& data = system->data;
  Map q_(q, model.nq), v_(v, model.nv);
  const Eigen::VectorXd tau = Eigen::VectorXd::Zero(model.nv);
  data.ddq.setZero();
  const double start = v[0];
  for (int k = 0; k < times; k++) {
    v[0] = start + 1e-300 * data.ddq[0];
    if (in_world_axes)
      aba(model, data, q_, v_, tau, Convention::WORLD);
    else
      aba(model, data, q_, v_, tau, Convention::LOCAL);
  }
  v[0] = start;
  Map(vdot, model.nv) = data.ddq;
}
}
