#version 460
// Keeps some pixels for the stencil buffer: those of three masks of four bits for the quads of columns 0, 1 and 2,
// repeated, or, with all bits set, the first of each tile of 16x16 pixels.

layout(push_constant) uniform Constants {
    vec2 size;
    uint kept;
} constants;

void main() {
    uvec2 pixel = uvec2(gl_FragCoord.xy);
    if (constants.kept == 0xffffffffu) {
        if (pixel.x % 16 != 0 || pixel.y % 16 != 0) {
            discard;
        }
        return;
    }
    uint mask = constants.kept >> (pixel.x / 2 % 3 * 4);
    if ((mask >> (pixel.y % 2 * 2 + pixel.x % 2) & 1u) == 0u) {
        discard;
    }
}
