#version 460
#extension GL_ARB_fragment_shader_interlock : require
// Blending in the shader, in the order of the primitives.

layout(pixel_interlock_ordered) in;

layout(rgba16f, set = 0, binding = 1) uniform coherent image2D target;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    beginInvocationInterlockARB();
    vec4 below = imageLoad(target, pixel);
    imageStore(target, pixel, below + (1.0 - below.a) * vec4(0.25, 0.125, 0.0625, 0.25));
    endInvocationInterlockARB();
}
