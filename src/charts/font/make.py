"""Makes the font of charts from Debian's package fonts-liberation2, with fonttools 4.

python3 make.py /usr/share/fonts/truetype/liberation2/LiberationSans-Regular.ttf

Writes charts-sans.ttf, the characters of Windows-1252 alone and without hints, under a name of its own, as its
licence asks (OFL-1.1, section 3), and ../widths.rs, the widths of these characters.
"""

import pathlib
import sys

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

HERE = pathlib.Path(__file__).parent
NAME = "Quadrille Charts Sans"
# Copyright, version, trademark, manufacturer, designer, description, licence: as they are.
OWN_NAMES = {1: NAME, 3: NAME + " 2.1.5", 4: NAME, 6: NAME.replace(" ", "")}


def character(code):
    """The character of a code of Windows-1252; of the five codes without one, the bullet that PDF gives them."""
    text = bytes([code]).decode("cp1252", errors="replace")
    return "\u2022" if text in "\ufffd\x7f" else text


codes = range(32, 256)
options = Options(hinting=False, layout_features=[], notdef_outline=True, name_IDs=["*"], recalc_timestamp=False)
font = TTFont(sys.argv[1], recalcTimestamp=False)
subsetter = Subsetter(options)
subsetter.populate(unicodes=[ord(character(code)) for code in codes])
subsetter.subset(font)
for record in font["name"].names:
    record.string = OWN_NAMES.get(record.nameID, record.toUnicode())
font.save(HERE / "charts-sans.ttf")

scale = 1000 / font["head"].unitsPerEm
glyphs = font.getBestCmap()
widths = [round(font["hmtx"][glyphs[ord(character(code))]][0] * scale) for code in codes]
lines = [", ".join(map(str, widths[at : at + 16])) for at in range(0, len(widths), 16)]
text = (
    "//! Widths of the characters of the font. Made by font/make.py.\n\n"
    "/// Widths of the codes 32 to 255 of Windows-1252, in thousandths of the font's size.\n"
    f"pub(crate) const WIDTHS: [u16; {len(widths)}] = [\n    " + ",\n    ".join(lines) + ",\n];\n"
)
(HERE / ".." / "widths.rs").write_text(text)
