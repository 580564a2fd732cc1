//! Against Pinocchio on real robots; `generate.py` beside this file made the values and says how.
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says so")]

use karakuri_dynamics::{
    Data, RneaDerivatives, aba, bias, center_of_mass, centroidal_momentum,
    centroidal_momentum_matrix, crba, forward_kinematics, frame_acceleration, frame_jacobian,
    frame_pose, frame_velocity, gravity_effort, kinetic_energy, potential_energy, rnea,
    rnea_derivatives, update_accelerations, update_velocities,
};
use karakuri_model::{Base, FrameId, Model, NoAssets, Source, load};
use karakuri_spatial::{Motion, Pose};
use nalgebra::{DMatrix, Matrix6xX};
use serde_json::Value;

/// Two recursions in different coordinates, each with some hundred roundings a body.
const TOLERANCE: f64 = 1e-10;

macro_rules! golden {
    ($($test:ident: $robot:literal, $base:literal;)*) => {
        $(#[test]
        fn $test() {
            check(
                include_str!(concat!("../../../../../tests/robots/", $robot, "/", $robot, ".urdf")),
                include_str!(concat!($robot, "_", $base, ".json")),
                $base == "floating",
            );
        })*
    };
}

golden! {
    ur5_fixed: "ur5", "fixed";
    ur5_floating: "ur5", "floating";
    panda_fixed: "panda", "fixed";
    solo12_floating: "solo12", "floating";
    anymal_c_floating: "anymal_c", "floating";
    g1_floating: "g1", "floating";
    talos_floating: "talos", "floating";
    simple_humanoid_fixed: "simple_humanoid", "fixed";
    simple_humanoid_floating: "simple_humanoid", "floating";
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn assert_close(what: &str, ours: &[f64], golden: &[f64]) {
    assert_eq!(ours.len(), golden.len(), "{what}: length");
    let scale = golden.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (i, (a, b)) in ours.iter().zip(golden).enumerate() {
        let error = (a - b).abs() / scale;
        assert!(error <= TOLERANCE, "{what}[{i}]: {a} against {b}, relative error {error:e}");
    }
}

/// A robot, and where Pinocchio's coordinates are in the model's.
struct Case {
    model: Model,
    data: Data,
    /// Joints in Pinocchio's order.
    joints: Vec<usize>,
    /// The model's velocity coordinate of each of Pinocchio's.
    order: Vec<usize>,
}

fn check(urdf: &str, golden: &str, floating: bool) {
    let golden: Value = serde_json::from_str(golden).unwrap();
    let base = if floating { Base::Floating } else { Base::Fixed(Pose::IDENTITY) };
    let source = Source::urdf("robot.urdf", urdf).with_base(base);
    let model = load(&source, &mut NoAssets).unwrap().model;
    let names = golden["joints"].as_array().unwrap();
    let joints: Vec<usize> =
        names.iter().map(|name| model.joint(name.as_str().unwrap()).unwrap().0).collect();
    let base_order = if floating { 0..6 } else { 0..0 };
    let order = base_order.chain(joints.iter().map(|j| model.joints[*j].v_start)).collect();
    assert!((model.mass() - golden["mass"].as_f64().unwrap()).abs() < 1e-10, "mass");
    let mut case = Case { data: Data::new(&model), model, joints, order };
    for sample in golden["samples"].as_array().unwrap() {
        case.vectors(sample);
        case.links(sample);
        if sample.get("crba").is_some() {
            case.matrices(sample);
        }
    }
}

impl Case {
    fn q(&self, sample: &Value) -> Vec<f64> {
        let mut q = self.model.neutral_position();
        if let Some(base) = sample.get("base_q") {
            q[..7].copy_from_slice(&numbers(base));
        }
        for (j, x) in self.joints.iter().zip(numbers(&sample["joint_q"])) {
            q[self.model.joints[*j].q_start] = x;
        }
        q
    }

    /// `key`: `v` or `a`.
    fn rates(&self, sample: &Value, key: &str) -> Vec<f64> {
        let mut all = sample.get(format!("base_{key}")).map(numbers).unwrap_or_default();
        all.extend(numbers(&sample[format!("joint_{key}")]));
        self.ours(&all)
    }

    /// Pinocchio's order to the model's.
    fn ours(&self, theirs: &[f64]) -> Vec<f64> {
        let mut list = vec![f64::NAN; self.model.nv];
        for (k, x) in self.order.iter().zip(theirs) {
            list[*k] = *x;
        }
        list
    }

    /// The model's order to Pinocchio's.
    fn theirs(&self, ours: &[f64]) -> Vec<f64> {
        self.order.iter().map(|k| ours[*k]).collect()
    }

    /// Row-major, both sides in Pinocchio's order.
    fn matrix(&self, ours: &DMatrix<f64>) -> Vec<f64> {
        let entry = |j: &usize, k: &usize| ours[(*j, *k)];
        self.order.iter().flat_map(|j| self.order.iter().map(move |k| entry(j, k))).collect()
    }

    /// Row-major, linear rows first, columns in Pinocchio's order.
    fn six_rows(&self, ours: &Matrix6xX<f64>) -> Vec<f64> {
        let rows = [3, 4, 5, 0, 1, 2];
        rows.iter().flat_map(|r| self.order.iter().map(move |k| ours[(*r, *k)])).collect()
    }

    fn vectors(&mut self, sample: &Value) {
        let (q, v, a) = (self.q(sample), self.rates(sample, "v"), self.rates(sample, "a"));
        let check = |case: &Self, key: &str, ours: &[f64]| {
            assert_close(key, &case.theirs(ours), &numbers(&sample[key]));
        };
        let tau = rnea(&self.model, &mut self.data, &q, &v, &a, &[]).to_vec();
        check(self, "rnea", &tau);
        let c = bias(&self.model, &mut self.data, &q, &v).to_vec();
        check(self, "bias", &c);
        let g = gravity_effort(&self.model, &mut self.data, &q).to_vec();
        check(self, "gravity", &g);
        let tau = self.ours(&numbers(&sample["tau"]));
        let vdot = aba(&self.model, &mut self.data, &q, &v, &tau, &[]).unwrap().to_vec();
        check(self, "aba", &vdot);
        let h = centroidal_momentum(&self.model, &mut self.data, &q, &v);
        let momentum = [h.linear.as_slice(), h.angular.as_slice()].concat();
        assert_close("momentum", &momentum, &numbers(&sample["momentum"]));
        let com = center_of_mass(&self.model, &self.data);
        assert_close("com", com.as_slice(), &numbers(&sample["com"]));
        for (key, ours) in [
            ("kinetic_energy", kinetic_energy(&self.model, &self.data)),
            ("potential_energy", potential_energy(&self.model, &self.data)),
        ] {
            assert_close(key, &[ours], &[sample[key].as_f64().unwrap()]);
        }
    }

    fn frame(&self, name: &str) -> FrameId {
        self.model.frame(name).unwrap_or_else(|| panic!("no link {name}"))
    }

    fn links(&mut self, sample: &Value) {
        let (q, v, a) = (self.q(sample), self.rates(sample, "v"), self.rates(sample, "a"));
        forward_kinematics(&self.model, &mut self.data, &q);
        update_velocities(&self.model, &mut self.data, &v);
        update_accelerations(&self.model, &mut self.data, &v, &a);
        for (name, pose) in sample["links"].as_object().unwrap() {
            let X = frame_pose(&self.model, &self.data, self.frame(name));
            let rows = X.rotation.transpose();
            let ours = [X.translation.as_slice(), rows.as_slice()].concat();
            assert_close(name, &ours, &numbers(pose));
        }
        let linear_first = |V: Motion| [V.linear.as_slice(), V.angular.as_slice()].concat();
        for (name, golden) in sample["frames"].as_object().unwrap() {
            let frame = self.frame(name);
            let V = linear_first(frame_velocity(&self.model, &self.data, frame));
            assert_close(name, &V, &numbers(&golden["velocity"]));
            let A = linear_first(frame_acceleration(&self.model, &self.data, frame));
            assert_close(name, &A, &numbers(&golden["acceleration"]));
            if let Some(jacobian) = golden.get("jacobian") {
                let mut J = Matrix6xX::zeros(self.model.nv);
                frame_jacobian(&self.model, &self.data, frame, &mut J);
                assert_close(name, &self.six_rows(&J), &numbers(jacobian));
            }
        }
    }

    fn matrices(&mut self, sample: &Value) {
        let (q, v, a) = (self.q(sample), self.rates(sample, "v"), self.rates(sample, "a"));
        let M = crba(&self.model, &mut self.data, &q).clone();
        let (M, nv) = (self.matrix(&M), self.model.nv);
        let upper: Vec<f64> = (0..nv).flat_map(|j| M[j * nv + j..(j + 1) * nv].to_vec()).collect();
        assert_close("crba", &upper, &numbers(&sample["crba"]));
        let mut A = Matrix6xX::zeros(nv);
        centroidal_momentum_matrix(&self.model, &mut self.data, &q, &mut A);
        assert_close("centroidal", &self.six_rows(&A), &numbers(&sample["centroidal"]));
        let mut out = RneaDerivatives::new(&self.model);
        rnea_derivatives(&self.model, &mut self.data, &q, &v, &a, &mut out);
        for (key, ours) in
            [("rnea_by_position", &out.by_position), ("rnea_by_velocity", &out.by_velocity)]
        {
            assert_close(key, &self.matrix(ours), &numbers(&sample[key]));
        }
    }
}
