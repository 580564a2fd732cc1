//! Numbers and their units in a picture, in letters of five by seven dots.

use crate::Image;

/// Width and height of a letter. [dots]
const LETTER: [usize; 2] = [5, 7];
/// Rows of dots from the top, the leftmost dot first.
const LETTERS: [(char, [u8; 7]); 15] = [
    ('0', [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110]),
    ('1', [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110]),
    ('2', [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111]),
    ('3', [0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110]),
    ('4', [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010]),
    ('5', [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110]),
    ('6', [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110]),
    ('7', [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000]),
    ('8', [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110]),
    ('9', [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100]),
    ('.', [0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100]),
    ('-', [0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000]),
    ('·', [0b00000, 0b00000, 0b00000, 0b01100, 0b01100, 0b00000, 0b00000]),
    ('s', [0b00000, 0b00000, 0b01111, 0b10000, 0b01110, 0b00001, 0b11110]),
    ('N', [0b10001, 0b11001, 0b11001, 0b10101, 0b10011, 0b10011, 0b10001]),
];

impl Image {
    /// Writes numbers with their units (`-0123456789.`, `s`, `N`, `·`; anything else is a gap), the middle of the upper edge at
    /// a point, each dot a square of this many pixels. Text outside the picture is cut off. [pixels]
    pub fn write(&mut self, text: &str, at: [f64; 2], dot: usize, color: [u8; 4]) {
        let step = (LETTER[0] + 1) * dot;
        let width = (text.chars().count() * step).saturating_sub(dot);
        let left = at[0].round() - 0.5 * width as f64;
        for (n, letter) in text.chars().enumerate() {
            let Some((_, rows)) = LETTERS.iter().find(|(known, _)| *known == letter) else {
                continue;
            };
            for (y, x) in
                (0..LETTER[1] * dot).flat_map(|y| (0..LETTER[0] * dot).map(move |x| (y, x)))
            {
                if rows[y / dot] >> (LETTER[0] - 1 - x / dot) & 1 == 1 {
                    self.paint(left + (n * step + x) as f64, at[1].round() + y as f64, color);
                }
            }
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "both are within the picture"
    )]
    fn paint(&mut self, x: f64, y: f64, color: [u8; 4]) {
        let is_inside =
            (0.0..self.width as f64).contains(&x) && (0.0..self.height as f64).contains(&y);
        if is_inside {
            self.pixels[y as usize * self.width + x as usize] = color;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_where_they_should() {
        let mut image = Image::filled(40, 20, [0; 4]);
        image.write("1 4", [20.0, 3.0], 2, [255; 4]);
        let lit = |x: usize, y: usize| image.pixels[y * 40 + x][0] == 255;
        // 17 dots of 2 pixels, from 3 on: the foot of the 1 and the bar of the 4
        assert!((5..11).all(|x| lit(x, 15) && lit(x, 16)) && !lit(4, 15) && !lit(11, 15));
        assert!((27..37).all(|x| lit(x, 11) && lit(x, 12)) && !lit(26, 11) && !lit(37, 11));
        assert!((13..27).all(|x| (0..20).all(|y| !lit(x, y))), "a gap is empty");
    }

    #[test]
    fn what_is_outside_is_cut_off() {
        let mut image = Image::filled(4, 4, [0; 4]);
        for at in [[-3.0, -3.0], [100.0, 2.0], [f64::NAN, 0.0]] {
            image.write("88", at, 3, [255; 4]);
        }
        assert_eq!(image.pixels.len(), 16);
    }
}
