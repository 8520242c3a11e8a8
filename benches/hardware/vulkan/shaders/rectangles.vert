#version 460
// Corners of rectangles, four vertices each.

layout(std430, set = 0, binding = 0) readonly buffer Rectangles {
    // Left, top, width and height in pixels.
    vec4 rectangles[];
};

layout(push_constant) uniform Constants {
    vec2 size;
    uint kept;
} constants;

void main() {
    vec4 rectangle = rectangles[gl_VertexIndex / 4];
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1 & 1);
    vec2 pixel = rectangle.xy + corner * rectangle.zw;
    gl_Position = vec4(pixel / constants.size * 2.0 - 1.0, 0.5, 1.0);
}
