use std::path::PathBuf;

use super::*;

fn asset(name: &str, bytes: &[u8]) -> Asset {
    Asset { path: PathBuf::from(name), bytes: bytes.to_vec() }
}

const TEXT_STL: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 2 0\n\
                        endloop\nendfacet\nendsolid a\n";

fn binary_stl(header: &[u8], announced: u32) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(80, 0);
    bytes.extend(announced.to_le_bytes());
    for x in [0.0_f32, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0] {
        bytes.extend(x.to_le_bytes());
    }
    bytes.extend([0, 0]);
    bytes
}

#[test]
fn stl_text_and_binary_give_the_same_triangle() {
    let text = decode(&asset("a.STL", TEXT_STL.as_bytes())).unwrap();
    assert_eq!(text.vertices, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]);
    assert_eq!(text.triangles, [[0, 1, 2]]);
    for header in [&b"exported"[..], b"solid but binary"] {
        let binary = decode(&asset("a.stl", &binary_stl(header, 1))).unwrap();
        assert_eq!((&binary.vertices, &binary.triangles), (&text.vertices, &text.triangles));
    }
}

#[test]
fn damaged_files_are_named_and_allocate_nothing() {
    let cases: [(&str, Vec<u8>, &str); 6] = [
        ("a.stl", binary_stl(b"x", 4_000_000_000), "too few"),
        ("a.stl", b"solid a\nfacet nonsense".to_vec(), "damaged STL"),
        ("a.obj", b"v 0 0 zero\nf 1 2 3".to_vec(), "damaged OBJ"),
        ("a.obj", b"v 0 0 0\nf 1 2 3".to_vec(), "damaged"),
        ("a.dae", b"<COLLADA><library_visual_scenes>".to_vec(), "damaged DAE"),
        ("a.step", b"ISO-10303".to_vec(), "unknown format `step`"),
    ];
    for (name, bytes, expected) in cases {
        let error = decode(&asset(name, &bytes)).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    assert_eq!(decode(&asset("a.obj", b"v 0 0 0\n")).unwrap_err(), MeshError::Empty);
}

#[test]
fn obj_quads_become_triangles() {
    let obj = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
    let mesh = decode(&asset("a.obj", obj.as_bytes())).unwrap();
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 2));
}

/// A unit square in centimetres, under a node that shifts by 10 and mirrors x.
const DAE: &str = r##"<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
      <technique_common><accessor source="#pa" count="4" stride="3"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#p" offset="1"/>
      <vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node>
    <translate>10 0 0</translate><scale>-1 1 1</scale><instance_geometry url="#g"/>
  </node></visual_scene></library_visual_scenes>
</COLLADA>"##;

#[test]
fn collada_applies_unit_and_nodes_and_turns_mirrored_triangles() {
    let mesh = decode(&asset("a.dae", DAE.as_bytes())).unwrap();
    assert_eq!(mesh.triangles, [[0, 2, 1], [0, 3, 2]]);
    let expected = [[0.1, 0.0, 0.0], [0.09, 0.0, 0.0], [0.09, 0.01, 0.0], [0.1, 0.01, 0.0]];
    for (v, e) in mesh.vertices.iter().zip(expected) {
        for i in 0..3 {
            assert!((v[i] - e[i]).abs() < 1e-15, "{v:?} {e:?}");
        }
    }
}

/// Strips turn every second triangle, fans go round their first corner; a strip of three corners is a triangle.
#[test]
fn collada_strips_and_fans_are_triangles() {
    let polylist = &DAE[DAE.find("<polylist").unwrap()..DAE.find("</polylist>").unwrap() + 11];
    let of = |kind: &str, lists: &str| {
        let input = "<input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>";
        let text = DAE.replace(polylist, &format!("<{kind} count=\"1\">{input}{lists}</{kind}>"));
        decode(&asset("a.dae", text.replace("<scale>-1 1 1</scale>", "").as_bytes()))
    };
    let strips = of("tristrips", "<p>0 1 3 2</p><p>0 1 2</p>").unwrap();
    assert_eq!(strips.triangles, [[0, 1, 3], [3, 1, 2], [0, 1, 2]]);
    let fans = of("trifans", "<p>0 1 2 3</p>").unwrap();
    assert_eq!(fans.triangles, [[0, 1, 2], [0, 2, 3]]);
    let holed = of("polygons", "<p>0 1 2</p><ph><p>0 1 2 3</p><h>0 1 2</h></ph>").unwrap_err();
    assert!(holed.to_string().contains("a polygon has a hole"), "{holed}");
}

#[test]
fn a_collada_file_that_contains_itself_ends() {
    let text = DAE.replace("<node>", "<node id=\"n\">").replace(
        "<instance_geometry url=\"#g\"/>",
        "<instance_node url=\"#n\"/><instance_node url=\"#n\"/>",
    );
    let error = decode(&asset("a.dae", text.as_bytes())).unwrap_err().to_string();
    assert!(error.contains("contain themselves"), "{error}");
}

#[test]
fn negative_scale_keeps_the_outside_outside() {
    let mut mesh = decode(&asset("a.stl", TEXT_STL.as_bytes())).unwrap();
    mesh.scale([-0.001, 0.001, 0.001]);
    assert!((mesh.vertices[1][0] + 0.001).abs() < 1e-18, "{:?}", mesh.vertices[1]);
    assert_eq!(mesh.triangles, [[0, 2, 1]]);
    assert!((mesh.extent() - 0.002).abs() < 1e-18);
}
