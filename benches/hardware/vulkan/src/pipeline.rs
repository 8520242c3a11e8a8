//! Graphics pipelines of the draws.

use anyhow::Result;
use ash::vk;

use crate::gpu::Gpu;
use crate::resources::{extent, stencil_format};
use crate::target::{Draw, Stencil};

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".spv"))
    };
}

fn stencil_op(stencil: Stencil, is_mask: bool) -> vk::StencilOpState {
    let (compare, pass) = match stencil {
        _ if is_mask => (vk::CompareOp::ALWAYS, vk::StencilOp::REPLACE),
        Stencil::Count => (vk::CompareOp::ALWAYS, vk::StencilOp::INCREMENT_AND_WRAP),
        _ => (vk::CompareOp::EQUAL, vk::StencilOp::KEEP),
    };
    vk::StencilOpState::default()
        .compare_op(compare)
        .pass_op(pass)
        .compare_mask(0xff)
        .write_mask(0xff)
        .reference(1)
}

/// Creates the pipeline of a draw or, for `is_mask`, the pipeline that writes its stencil mask.
pub(crate) fn pipeline(
    gpu: &Gpu,
    draw: &Draw,
    size_px: u32,
    layout: vk::PipelineLayout,
    is_mask: bool,
) -> Result<vk::Pipeline> {
    let fragment: Option<&[u8]> = match draw {
        _ if is_mask => Some(spirv!("mask.frag")),
        Draw { in_shader: Some(true), .. } => Some(spirv!("ordered.frag")),
        Draw { in_shader: Some(false), .. } => Some(spirv!("unordered.frag")),
        Draw { counts_warps: true, .. } => Some(spirv!("warps.frag")),
        Draw { format: Some(_), .. } => Some(spirv!("colour.frag")),
        _ => None,
    };
    let stage = |module, stage| {
        vk::PipelineShaderStageCreateInfo::default()
            .module(module)
            .stage(stage)
            .name(Gpu::entry_point())
    };
    let vertex = gpu.shader(spirv!("rectangles.vert"))?;
    let fragment = fragment.map(|spirv| gpu.shader(spirv)).transpose()?;
    let mut stages = vec![stage(vertex, vk::ShaderStageFlags::VERTEX)];
    stages.extend(fragment.map(|module| stage(module, vk::ShaderStageFlags::FRAGMENT)));
    let vertices = vk::PipelineVertexInputStateCreateInfo::default();
    let triangles = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let size = size_px as f32;
    let viewports =
        [vk::Viewport { width: size, height: size, max_depth: 1.0, ..Default::default() }];
    let scissors = [vk::Rect2D::from(extent(size_px))];
    let viewport =
        vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let op = stencil_op(draw.stencil, is_mask);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .stencil_test_enable(draw.stencil != Stencil::Off)
        .front(op)
        .back(op);
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(draw.blends)
        .src_color_blend_factor(vk::BlendFactor::ONE_MINUS_DST_ALPHA)
        .dst_color_blend_factor(vk::BlendFactor::ONE)
        .src_alpha_blend_factor(vk::BlendFactor::ONE_MINUS_DST_ALPHA)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE)
        .color_write_mask(if is_mask {
            vk::ColorComponentFlags::empty()
        } else {
            vk::ColorComponentFlags::RGBA
        });
    let blends = vec![blend; draw.format.iter().count()];
    let colours = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let mut formats =
        vk::PipelineRenderingCreateInfo::default().color_attachment_formats(draw.format.as_slice());
    if draw.stencil != Stencil::Off {
        formats = formats.stencil_attachment_format(stencil_format(gpu)?);
    }
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertices)
        .input_assembly_state(&triangles)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&colours)
        .layout(layout)
        .push_next(&mut formats);
    // SAFETY: the device is alive, and the structures live through the calls. A pipeline keeps no shader module.
    unsafe {
        let made = gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None);
        for module in fragment.into_iter().chain([vertex]) {
            gpu.device.destroy_shader_module(module, None);
        }
        Ok(made.map_err(|(_, error)| error)?[0])
    }
}
