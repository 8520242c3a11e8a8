#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Frame = 1,
    StillA = 2,
    StillB = 3,
    Difference = 4,
    Map = 5,
    File = 6,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    Jpeg = 1,
    WebP = 2,
    Png = 3,
    /// A film in the format that the welcome states.
    Film = 4,
}

/// Length of the header of a binary message.
pub(crate) const HEADER_BYTES: usize = 32;
pub(crate) const LAST_PART: u16 = 1;
/// Flag of a lossy picture that a lossless one follows.
pub(crate) const PREVIEW: u16 = 2;
/// Flag of a picture without a splat in view.
pub(crate) const NOTHING_IN_VIEW: u16 = 4;

/// Header of a binary message: little-endian, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    pub(crate) codec: Codec,
    pub(crate) flags: u16,
    /// Number of the picture, or of the request that a map or file answers.
    pub(crate) number: u32,
    pub(crate) generation: u32,
    pub(crate) size: [u16; 2],
    pub(crate) render_us: u32,
    pub(crate) encode_us: u32,
    /// Length of the whole encoded picture.
    pub(crate) bytes: u32,
    /// Offset of this part in the encoded picture.
    pub(crate) offset: u32,
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let numbers = [
            self.number.to_le_bytes(),
            self.generation.to_le_bytes(),
            [
                self.size[0].to_le_bytes()[0],
                self.size[0].to_le_bytes()[1],
                self.size[1].to_le_bytes()[0],
                self.size[1].to_le_bytes()[1],
            ],
            self.render_us.to_le_bytes(),
            self.encode_us.to_le_bytes(),
            self.bytes.to_le_bytes(),
            self.offset.to_le_bytes(),
        ];
        bytes[0] = self.kind as u8;
        bytes[1] = self.codec as u8;
        bytes[2..4].copy_from_slice(&self.flags.to_le_bytes());
        for (place, number) in bytes[4..].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_its_numbers_at_their_places() {
        let header = Header {
            kind: Kind::StillB,
            codec: Codec::WebP,
            flags: LAST_PART | NOTHING_IN_VIEW,
            number: 0x0102_0304,
            generation: 5,
            size: [980, 545],
            render_us: 6,
            encode_us: 7,
            bytes: 8,
            offset: 9,
        };
        let bytes = header.to_bytes();
        assert_eq!(bytes[..8], [3, 2, 5, 0, 4, 3, 2, 1]);
        assert_eq!(bytes[8..16], [5, 0, 0, 0, 0xd4, 0x03, 0x21, 0x02]);
        assert_eq!([bytes[16], bytes[20], bytes[24], bytes[28]], [6, 7, 8, 9]);
    }
}
