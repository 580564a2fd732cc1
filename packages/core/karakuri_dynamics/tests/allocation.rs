//! No algorithm allocates once its workspaces exist: every request to the heap is counted.
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

use karakuri_dynamics::{
    AbaDerivatives, Articulated, Data, IkOptions, IkProblem, IkTarget, InverseKinematics,
    MassFactor, Reduction, RneaDerivatives, aba, aba_at_velocity, aba_derivatives, bias,
    center_of_mass, center_of_mass_jacobian, centroidal_momentum, centroidal_momentum_matrix, crba,
    difference, forward_kinematics, frame_acceleration, frame_jacobian, frame_jacobian_local,
    frame_jacobian_rate, frame_pose, frame_velocity, gravity_effort, integrate, kinetic_energy,
    normalize, potential_energy, rnea, rnea_derivatives, update_accelerations, update_velocities,
};
use karakuri_model::{Base, BodyId, FrameId};
use karakuri_spatial::Force;
use karakuri_testkit::{
    CountingHeap, Kind, Random, heap_requests, random_position, random_tree, random_vector,
};
use nalgebra::{Matrix3xX, Matrix6xX};

#[global_allocator]
static HEAP: CountingHeap = CountingHeap;

fn requests(name: &str, mut f: impl FnMut()) {
    let before = heap_requests();
    f();
    assert_eq!(heap_requests() - before, 0, "{name} allocates");
}

#[test]
fn nothing_allocates_after_the_workspaces() {
    for (seed, base) in [(1, Base::Floating), (2, Base::Fixed(karakuri_spatial::Pose::IDENTITY))] {
        let model = random_tree(seed, 12, base, Kind::ALL);
        let nv = model.nv;
        let mut random = Random::new(seed);
        let q = random_position(&model, &mut random);
        let [v, a, tau] = [(); 3].map(|()| random_vector(nv, &mut random));
        let external = vec![Force::default(); model.bodies.len()];
        let frame = FrameId(model.frames.len() - 1);
        let mut data = Data::new(&model);
        let (mut articulated, mut sparse) = (Articulated::new(&model), MassFactor::new(&model));
        let mut by_inverse = RneaDerivatives::new(&model);
        let mut by_forward = AbaDerivatives::new(&model);
        let (mut J, mut J_com) = (Matrix6xX::zeros(nv), Matrix3xX::zeros(nv));
        let (mut q_out, mut v_out) = (q.clone(), v.clone());
        let reduction = Reduction::new(&model);

        requests("kinematics", || {
            forward_kinematics(&model, &mut data, &q);
            update_velocities(&model, &mut data, &v);
            update_accelerations(&model, &mut data, &v, &a);
            frame_pose(&model, &data, frame);
            frame_velocity(&model, &data, frame);
            frame_acceleration(&model, &data, frame);
            frame_jacobian_rate(&model, &data, frame, &v);
            frame_jacobian(&model, &data, frame, &mut J);
            frame_jacobian_local(&model, &data, frame, &mut J);
        });
        requests("dynamics", || {
            rnea(&model, &mut data, &q, &v, &a, &external);
            bias(&model, &mut data, &q, &v);
            gravity_effort(&model, &mut data, &q);
            crba(&model, &mut data, &q);
            aba(&model, &mut data, &q, &v, &tau, &external).unwrap();
        });
        requests("momentum", || {
            center_of_mass(&model, &data);
            centroidal_momentum(&model, &mut data, &q, &v);
            centroidal_momentum_matrix(&model, &mut data, &q, &mut J);
            center_of_mass_jacobian(&model, &mut data, &q, &mut J_com);
            kinetic_energy(&model, &data);
            potential_energy(&model, &data);
        });
        requests("factors", || {
            sparse.factorize(&data.mass_matrix, &[]).unwrap();
            sparse.solve(&mut v_out);
            articulated.factorize(&model, &mut data, &[]).unwrap();
            articulated.apply_inverse(&model, &mut v_out);
            articulated.impulse_response(&model, BodyId(0), &Force::default(), &mut v_out);
            articulated.body_response(BodyId(0), &Force::default(), BodyId(0));
            aba_at_velocity(&model, &mut data, &mut articulated, &v, &tau, &external);
        });
        requests("derivatives", || {
            rnea_derivatives(&model, &mut data, &q, &v, &a, &mut by_inverse);
            aba_derivatives(&model, &mut data, &q, &v, &tau, &mut by_forward).unwrap();
        });
        requests("positions", || {
            integrate(&model, &q, &v, 0.01, &mut q_out);
            difference(&model, &q, &q_out, &mut v_out);
            normalize(&model, &mut q_out);
            reduction.project_position(&mut q_out);
            reduction.project_velocity(&mut v_out);
        });
        let mut ik = InverseKinematics::new(&model, 1);
        forward_kinematics(&model, &mut data, &q);
        let targets = [IkTarget::pose(frame, frame_pose(&model, &data, frame))];
        let start = model.neutral_position();
        let problem = IkProblem { targets: &targets, start: &start, ..IkProblem::default() };
        requests("inverse kinematics", || {
            ik.solve(&model, &problem, &IkOptions::default()).unwrap();
        });
    }
}
