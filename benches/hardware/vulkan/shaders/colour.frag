#version 460
// A colour without arithmetic.

layout(location = 0) out vec4 colour;

void main() {
    colour = vec4(0.25, 0.125, 0.0625, 0.25);
}
