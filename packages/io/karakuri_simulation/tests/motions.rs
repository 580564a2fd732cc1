//! Tables of prescribed motions, read from disk.

use karakuri_physics::{SceneMotion, World};
use karakuri_simulation::load_scene;

const URDF: &str = r#"<robot name="r">
  <link name="base"/>
  <link name="a"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="1000" velocity="100"/></joint>
</robot>
"#;

#[test]
fn joints_and_bodies_move_by_the_columns_of_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("r.urdf", URDF);
    put("m.csv", "time [s],r.lift.q [m],z [m],yaw [rad]\n0,0,1,0\n1,0.5,2,0.4\n2,2,3,0.8\n");
    let scene = |motion: &str| {
        let bodies = "bodies:\n  - {name: b, fixed: true, shape: {sphere: {radius: 0.1}}, pose: {xyz: [5, 6, 7]}}\n";
        put(
            "s.yaml",
            &format!("robots:\n  - {{name: r, urdf: r.urdf}}\n{bodies}prescribed:\n  - {motion}\n"),
        );
        load_scene(&folder.path().join("s.yaml"))
    };
    let loaded = scene("{joint: r/lift, table: m.csv}").unwrap();
    let SceneMotion::Joint(table) = &loaded.scene.prescribed[0].motion else {
        unreachable!("not read");
    };
    // The parabola t²/2.
    assert!((table.at(1.6).0 - 0.5 * 1.6 * 1.6).abs() < 1e-12);
    let loaded = scene("{body: b, table: m.csv}").unwrap();
    let mut world: World = loaded.world().unwrap();
    for _ in 0..500 {
        world.step();
    }
    let body = world.body(world.find_body("b").unwrap());
    let (p, angle) = (body.pose().translation, body.pose().quaternion().angle());
    assert!((p.x, p.y) == (5.0, 6.0) && (p.z - 1.5).abs() < 1e-12, "{p}");
    assert!((angle - 0.2).abs() < 1e-12, "{angle}");
    for (motion, what) in [
        ("{joint: r/lift, table: m.csv, column: elbow}", "has no column `elbow`"),
        ("{joint: r/lift, table: none.csv}", "none.csv"),
        ("{body: b, table: r.urdf}", "r.urdf"),
    ] {
        let said = scene(motion).unwrap_err().to_string();
        assert!(said.contains(what) && said.contains("s.yaml:6"), "{said}");
    }
}
