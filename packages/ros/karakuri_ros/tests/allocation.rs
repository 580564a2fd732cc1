//! From the bytes of a sample to the bytes of its command nothing is allocated, once names and lengths are known: every
//! request to the heap is counted.

use std::sync::Arc;

use karakuri_control::{Command, Controller, FeedforwardController, FeedforwardSettings, State};
use karakuri_model::{Base, NoAssets, Source, load};
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::{IntoMessage, JointStateReader, Wire, time_from_message};
use karakuri_spatial::{Pose, Time};
use karakuri_testkit::{CountingHeap, heap_requests};

#[global_allocator]
static HEAP: CountingHeap = CountingHeap;

#[test]
fn a_sample_is_answered_without_allocation() {
    let urdf = include_str!("../../../../urdf/arm6/arm6.urdf");
    let config = include_str!("../../../../config/arm6.yaml");
    let source = Source::urdf("arm6.urdf", urdf)
        .with_config("arm6.yaml", config)
        .with_base(Base::Fixed(Pose::IDENTITY));
    let model = Arc::new(load(&source, &mut NoAssets).unwrap().model);
    let settings = FeedforwardSettings::default();
    let mut controller = FeedforwardController::new(Arc::clone(&model), settings).unwrap();
    let mut command = Command::new(&model);
    let mut reader = JointStateReader::new(&model);
    let names = |ids: &mut dyn Iterator<Item = usize>| -> Vec<String> {
        ids.map(|i| model.joints[i].name.clone()).collect()
    };
    let commanded: Vec<usize> = model.groups.iter().flat_map(|g| &g.joints).map(|j| j.0).collect();
    let mut answer =
        JointState { name: names(&mut commanded.iter().copied()), ..JointState::default() };
    let (mut sample, mut answer_bytes) = (JointState::default(), Vec::new());
    // What the simulation sends, each sample with other numbers.
    let n = model.joints.len();
    let mut sent = JointState { name: names(&mut (0..n)), ..JointState::default() };
    let mut requests = Vec::with_capacity(100);
    let mut sample_bytes = Vec::new();
    for i in 0..100_i32 {
        sent.header.stamp = Time::ZERO.plus_seconds(1e-3 * f64::from(i + 1)).to_message();
        sent.position = vec![1e-5 * f64::from(i); n];
        sent.velocity = vec![1e-2; n];
        sent.effort = vec![0.0; n];
        sent.write(&mut sample_bytes);

        let before = heap_requests();
        sample.read(&sample_bytes).unwrap();
        reader.read(&model, &sample).unwrap();
        let now = time_from_message(&sample.header.stamp);
        let state = State { q: &reader.q, v: &reader.v, effort: &reader.effort };
        controller.update(&state, now, 1e-3, &mut command);
        answer.header.stamp = sample.header.stamp.clone();
        for (target, values) in [
            (&mut answer.position, &command.position),
            (&mut answer.velocity, &command.velocity),
            (&mut answer.effort, &command.effort),
        ] {
            target.clear();
            target.extend(commanded.iter().map(|&j| values[j]));
        }
        answer.write(&mut answer_bytes);
        requests.push(heap_requests() - before);
    }
    assert!(requests[0] > 0, "the first sample brings the names");
    assert_eq!(requests[1..].iter().sum::<usize>(), 0, "{requests:?}");
}
