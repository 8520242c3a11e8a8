#version 460
#extension GL_KHR_shader_subgroup_basic : require
// Counts the subgroups that shade fragments, which are the warps of the device.

layout(location = 0) out vec4 colour;

layout(std430, set = 0, binding = 2) buffer Warps {
    uint warps;
};

void main() {
    // The elected invocation must not be a helper, which covers no sample and whose atomic operations have no effect.
    if (gl_SampleMaskIn[0] != 0) {
        if (subgroupElect()) {
            atomicAdd(warps, 1u);
        }
    }
    colour = vec4(0.25, 0.125, 0.0625, 0.25);
}
