//! What is in the picture is where geometry says it is.

use karakuri_model::Shape;
use karakuri_render::{Camera, Image, Item, Picture, film_strip, render};
use karakuri_spatial::{Pose, Vector3};

const RED: [f32; 4] = [0.9, 0.1, 0.1, 1.0];

fn item(shape: Shape, at: [f64; 3]) -> Item {
    Item { shape, pose: Pose::from_translation(at.into()), color: RED }
}

fn is_red([r, g, b, _]: [u8; 4]) -> bool {
    r / 2 > g.max(b)
}

/// Looks along −x at the origin: y is to the right, z up, 200 pixels a metre there.
fn front_view(items: Vec<Item>, floor: Option<f64>) -> Image {
    let field_of_view = 2.0 * (0.25_f64 / 2.0).atan();
    let camera =
        Camera { eye: Vector3::new(2.0, 0.0, 0.0), target: Vector3::zeros(), field_of_view };
    render(&Picture { camera, items, floor }, 120, 100)
}

fn red_pixels(image: &Image) -> usize {
    image.pixels.iter().filter(|&&p| is_red(p)).count()
}

#[test]
fn every_shape_covers_its_silhouette() {
    let mesh = karakuri_model::Mesh {
        path: "square.stl".into(),
        vertices: vec![[0.0, -0.1, -0.1], [0.0, 0.1, -0.1], [0.0, 0.1, 0.1], [0.0, -0.1, 0.1]],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        convex: karakuri_model::Convex::Hull,
    };
    let pi = std::f64::consts::PI;
    // Areas seen from far away; the camera at 2 m enlarges what is in front of the origin by a few per cent.
    let cases = [
        (Shape::Box { size: Vector3::new(1e-3, 0.2, 0.1) }, 0.02),
        (Shape::Sphere { radius: 0.1 }, pi * 0.01),
        (Shape::Cylinder { radius: 0.1, length: 0.2 }, 0.04),
        (Shape::Capsule { radius: 0.05, length: 0.1 }, 0.01 + pi * 0.0025),
        (Shape::Ellipsoid { semi_axes: Vector3::new(0.01, 0.1, 0.05) }, pi * 0.005),
        (Shape::Mesh(mesh.into()), 0.04),
    ];
    for (shape, area) in cases {
        let want = area * 200.0 * 200.0;
        let got = red_pixels(&front_view(vec![item(shape.clone(), [0.0; 3])], None)) as f64;
        assert!((got / want - 1.0).abs() < 0.08, "{shape:?}: {got} pixels, want {want}");
    }
}

#[test]
fn the_nearer_item_hides_the_farther() {
    let near = Item {
        color: [0.1, 0.1, 0.9, 1.0],
        ..item(Shape::Sphere { radius: 0.1 }, [0.5, 0.0, 0.0])
    };
    let far = item(Shape::Sphere { radius: 0.1 }, [-0.5, 0.0, 0.0]);
    assert_eq!(red_pixels(&front_view(vec![near.clone(), far.clone()], None)), 0);
    assert_eq!(red_pixels(&front_view(vec![far, near], None)), 0);
}

#[test]
fn a_floor_hides_what_is_below_it() {
    let ball = || vec![item(Shape::Sphere { radius: 0.1 }, [0.0; 3])];
    let whole = red_pixels(&front_view(ball(), None));
    let half = red_pixels(&front_view(ball(), Some(-1e-6)));
    assert!((2 * half).abs_diff(whole) < whole / 10, "{half} of {whole} pixels");
}

#[test]
fn a_ball_shades_the_floor_away_from_the_sun() {
    let camera = Camera::orbiting(Vector3::zeros(), 2.0, 0.0, 1.5, 0.5);
    let lit = render(&Picture { camera, items: vec![], floor: Some(-0.1) }, 60, 60);
    let ball = item(Shape::Sphere { radius: 0.1 }, [0.0, 0.0, 0.3]);
    let shaded = render(&Picture { camera, items: vec![ball], floor: Some(-0.1) }, 60, 60);
    let darker =
        |i: &usize| shaded.pixels[*i][2] + 40 < lit.pixels[*i][2] && !is_red(shaded.pixels[*i]);
    assert!((0..3600).filter(darker).count() > 20);
}

#[test]
fn a_shape_across_the_camera_is_cut_not_lost() {
    let beam = item(Shape::Box { size: Vector3::new(10.0, 0.1, 0.1) }, [0.0, 0.0, -0.1]);
    let image = front_view(vec![beam], None);
    assert!(is_red(image.pixels[99 * 120 + 60]), "{:?}", image.pixels[99 * 120 + 60]);
}

#[test]
fn the_same_picture_gives_the_same_bytes_and_a_png_that_reads_back() {
    let picture = || front_view(vec![item(Shape::Sphere { radius: 0.1 }, [0.0; 3])], Some(-0.1));
    let (image, png) = (picture(), picture().to_png().unwrap());
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    assert_eq!(bytes, image.pixels.as_flattened());
}

#[test]
fn a_strip_holds_its_images_in_order() {
    let color = |c: u8| Image::filled(3, 2, [c; 4]);
    let strip = film_strip(&[color(1), color(2), color(3)], 2, 1);
    assert_eq!((strip.width, strip.height), (7, 5));
    let at = |x: usize, y: usize| strip.pixels[y * 7 + x][0];
    assert_eq!([at(0, 0), at(3, 0), at(4, 1), at(2, 3), at(4, 3)], [1, 255, 2, 3, 255]);
    assert_eq!(film_strip(&[], 4, 1).pixels.len(), 0);
}
