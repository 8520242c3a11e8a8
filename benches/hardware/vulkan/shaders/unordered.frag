#version 460
// Blending in the shader, without an order: updates of one pixel may get lost.

layout(rgba16f, set = 0, binding = 1) uniform coherent image2D target;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec4 below = imageLoad(target, pixel);
    imageStore(target, pixel, below + (1.0 - below.a) * vec4(0.25, 0.125, 0.0625, 0.25));
}
