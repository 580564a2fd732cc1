//! Image of pixels, and its PNG file.

/// Image of red, green, blue and opacity, 0 to 255, row by row from the upper left corner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Width of the image. [pixels]
    pub width: usize,
    /// Height of the image. [pixels]
    pub height: usize,
    /// Pixels, row by row. (width × height)
    pub pixels: Vec<[u8; 4]>,
}

/// Reason why an image cannot be a PNG.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The image is empty, or larger than a PNG can be.
    #[error("an image of {width} by {height} pixels is no PNG; use 1 to 2147483647 each")]
    Size {
        /// Width of the image. [pixels]
        width: usize,
        /// Height of the image. [pixels]
        height: usize,
    },
    /// The encoder failed.
    #[error("cannot encode the PNG: {0}")]
    Encoding(#[from] png::EncodingError),
}

impl Image {
    /// Image of one colour.
    pub fn filled(width: usize, height: usize, color: [u8; 4]) -> Self {
        Self { width, height, pixels: vec![color; width * height] }
    }

    /// Bytes of a PNG file with the image.
    ///
    /// # Errors
    /// When a side is 0 or more than PNG holds, or the encoder fails.
    pub fn to_png(&self) -> Result<Vec<u8>, ImageError> {
        let wrong = ImageError::Size { width: self.width, height: self.height };
        let (Ok(width), Ok(height)) = (u32::try_from(self.width), u32::try_from(self.height))
        else {
            return Err(wrong);
        };
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(bytes)
    }
}

/// Images side by side, `gap` [pixels] of white between them; `columns` in a row.
pub fn film_strip(images: &[Image], columns: usize, gap: usize) -> Image {
    let columns = columns.clamp(1, images.len().max(1));
    let rows = images.len().div_ceil(columns);
    let cell_width = images.iter().map(|i| i.width).max().unwrap_or(0);
    let cell_height = images.iter().map(|i| i.height).max().unwrap_or(0);
    let length = |cells: usize, cell: usize| (cells * (cell + gap)).saturating_sub(gap);
    let mut strip = Image::filled(length(columns, cell_width), length(rows, cell_height), [255; 4]);
    for (i, image) in images.iter().enumerate() {
        let (left, top) = (i % columns * (cell_width + gap), i / columns * (cell_height + gap));
        for (y, row) in image.pixels.chunks_exact(image.width.max(1)).enumerate() {
            let start = (top + y) * strip.width + left;
            strip.pixels[start..start + image.width].copy_from_slice(row);
        }
    }
    strip
}
