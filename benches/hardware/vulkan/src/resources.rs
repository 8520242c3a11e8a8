//! Images, buffers and queries of a device.

use anyhow::{Context, Result};
use ash::vk;

use crate::gpu::Gpu;

/// Formats with a stencil, in order of preference.
const STENCIL_FORMATS: [vk::Format; 3] =
    [vk::Format::S8_UINT, vk::Format::D24_UNORM_S8_UINT, vk::Format::D32_SFLOAT_S8_UINT];

pub(crate) struct Image {
    pub(crate) handle: vk::Image,
    pub(crate) view: vk::ImageView,
    pub(crate) memory: vk::DeviceMemory,
}

pub(crate) struct Buffer {
    pub(crate) handle: vk::Buffer,
    pub(crate) memory: vk::DeviceMemory,
}

pub(crate) fn extent(size_px: u32) -> vk::Extent2D {
    vk::Extent2D { width: size_px, height: size_px }
}

pub(crate) fn image(
    gpu: &Gpu,
    format: vk::Format,
    usage: vk::ImageUsageFlags,
    size_px: u32,
) -> Result<Image> {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent(size_px).into())
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    // SAFETY: the device is alive, and the structures live through the calls.
    unsafe {
        let image = gpu.device.create_image(&info, None)?;
        let needs = gpu.device.get_image_memory_requirements(image);
        let memory = gpu.allocate(needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        gpu.device.bind_image_memory(image, memory, 0)?;
        let view = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(whole(format));
        Ok(Image { handle: image, view: gpu.device.create_image_view(&view, None)?, memory })
    }
}

/// Subresource range of a whole image.
pub(crate) fn whole(format: vk::Format) -> vk::ImageSubresourceRange {
    let aspects = match format {
        vk::Format::S8_UINT => vk::ImageAspectFlags::STENCIL,
        _ if STENCIL_FORMATS.contains(&format) => {
            vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
        }
        _ => vk::ImageAspectFlags::COLOR,
    };
    vk::ImageSubresourceRange::default().aspect_mask(aspects).level_count(1).layer_count(1)
}

pub(crate) fn buffer(
    gpu: &Gpu,
    bytes: u64,
    usage: vk::BufferUsageFlags,
    flags: vk::MemoryPropertyFlags,
) -> Result<Buffer> {
    let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
    // SAFETY: the device is alive, and the structures live through the calls.
    unsafe {
        let buffer = gpu.device.create_buffer(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_buffer_memory_requirements(buffer), flags)?;
        gpu.device.bind_buffer_memory(buffer, memory, 0)?;
        Ok(Buffer { handle: buffer, memory })
    }
}

/// Whether images of a format have the features `needs`.
pub(crate) fn supports(gpu: &Gpu, format: vk::Format, needs: vk::FormatFeatureFlags) -> bool {
    // SAFETY: the physical device is of this instance.
    let found = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format) };
    found.optimal_tiling_features.contains(needs)
}

pub(crate) fn stencil_format(gpu: &Gpu) -> Result<vk::Format> {
    let needs = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
    let mut all = STENCIL_FORMATS.into_iter();
    all.find(|format| supports(gpu, *format, needs)).context("no format with a stencil")
}

pub(crate) fn queries(gpu: &Gpu, kind: vk::QueryType, count: u32) -> Result<vk::QueryPool> {
    let info = vk::QueryPoolCreateInfo::default().query_type(kind).query_count(count);
    // SAFETY: the device is alive, and the structure lives through the call.
    Ok(unsafe { gpu.device.create_query_pool(&info, None) }?)
}
