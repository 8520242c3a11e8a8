//! A picture to draw rectangles to, with the pipeline of a case.

use std::ops::Range;
use std::slice;

use anyhow::{Result, bail};
use ash::vk;

use crate::gpu::Gpu;
use crate::pipeline::pipeline;
use crate::resources::{
    Buffer, Image, buffer, extent, image, queries, stencil_format, supports, whole,
};

/// Capacity of the buffers, in rectangles.
const CAPACITY: u64 = 1 << 20;
/// Bytes of a rectangle: four numbers in f32.
const RECTANGLE_BYTES: u64 = 16;
/// Format of the image that shaders blend in.
const STORAGE_FORMAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Corners of the two triangles of a rectangle.
const CORNERS: [u32; 6] = [0, 1, 2, 2, 1, 3];
/// Use of the stencil buffer.
#[derive(Clone, Copy, PartialEq, Default)]
pub(crate) enum Stencil {
    /// No stencil buffer.
    #[default]
    Off,
    /// Keeps pixels of quads: masks of four bits for the quads of columns 0, 1 and 2, repeated.
    Keep(u32),
    /// Keeps no pixel.
    Kill,
    /// Keeps the first pixel of each tile of 16x16, so that no coarse test can kill a whole tile.
    Sparse,
    /// Counts the rectangles over each pixel.
    Count,
}

/// Pipeline state of a draw.
#[derive(Clone, Copy, Default)]
pub(crate) struct Draw {
    /// Format of the colour buffer, if there is one.
    pub(crate) format: Option<vk::Format>,
    /// Whether colours are blended under the stored ones, as for splats in front-to-back order.
    pub(crate) blends: bool,
    /// Use of the stencil buffer.
    pub(crate) stencil: Stencil,
    /// `Some` if the shader blends: true if in the order of the rectangles.
    pub(crate) in_shader: Option<bool>,
    /// Whether the shader counts the subgroups that run it.
    pub(crate) counts_warps: bool,
}

/// The picture, the buffers and the pipeline of a draw.
pub(crate) struct Target<'a> {
    gpu: &'a Gpu,
    draw: Draw,
    size_px: u32,
    colour: Option<Image>,
    stencil: Option<Image>,
    storage: Option<Image>,
    staging: Buffer,
    rectangles: Buffer,
    indices: Buffer,
    /// Number of subgroups, which the shader counts.
    warps: Buffer,
    descriptors: Descriptors,
    layout: vk::PipelineLayout,
    pipelines: Vec<vk::Pipeline>,
    timestamps: vk::QueryPool,
    occlusion: vk::QueryPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
}

/// Checks that the device supports the draw.
fn check(gpu: &Gpu, draw: &Draw) -> Result<()> {
    if draw.in_shader == Some(true) && !gpu.has_interlock {
        bail!("the device has no fragmentShaderPixelInterlock");
    }
    if draw.counts_warps && gpu.subgroup_lanes.is_none() {
        bail!("the device has no subgroups in fragment shaders");
    }
    if let Some(format) = draw.format {
        let needs = if draw.blends {
            vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND
        } else {
            vk::FormatFeatureFlags::COLOR_ATTACHMENT
        };
        if !supports(gpu, format, needs) {
            bail!("the device does not draw to {format:?} so");
        }
    }
    Ok(())
}

/// Descriptors of the buffer of rectangles, of the image that shaders blend in, and of the count of subgroups.
struct Descriptors {
    pool: vk::DescriptorPool,
    layout: vk::DescriptorSetLayout,
    set: vk::DescriptorSet,
}

impl Descriptors {
    fn new(
        gpu: &Gpu,
        rectangles: &Buffer,
        warps: &Buffer,
        storage: Option<&Image>,
    ) -> Result<Self> {
        // SAFETY: the device is alive, the resources are its own, and the structures live through the calls.
        unsafe {
            let device = &gpu.device;
            let binding = |number, kind, stage| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(number)
                    .descriptor_type(kind)
                    .descriptor_count(1)
                    .stage_flags(stage)
            };
            let (as_buffer, as_image) =
                (vk::DescriptorType::STORAGE_BUFFER, vk::DescriptorType::STORAGE_IMAGE);
            let bindings = [
                binding(0, as_buffer, vk::ShaderStageFlags::VERTEX),
                binding(1, as_image, vk::ShaderStageFlags::FRAGMENT),
                binding(2, as_buffer, vk::ShaderStageFlags::FRAGMENT),
            ];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layout = device.create_descriptor_set_layout(&info, None)?;
            let sizes = [(as_buffer, 2), (as_image, 1)].map(|(kind, count)| {
                vk::DescriptorPoolSize::default().ty(kind).descriptor_count(count)
            });
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(slice::from_ref(&layout));
            let set = device.allocate_descriptor_sets(&info)?[0];
            for (number, buffer) in [(0, rectangles), (2, warps)] {
                let whole =
                    vk::DescriptorBufferInfo::default().buffer(buffer.handle).range(vk::WHOLE_SIZE);
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(number)
                    .descriptor_type(as_buffer)
                    .buffer_info(slice::from_ref(&whole));
                device.update_descriptor_sets(&[write], &[]);
            }
            if let Some(storage) = storage {
                let info = vk::DescriptorImageInfo::default()
                    .image_view(storage.view)
                    .image_layout(vk::ImageLayout::GENERAL);
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(1)
                    .descriptor_type(as_image)
                    .image_info(slice::from_ref(&info));
                device.update_descriptor_sets(&[write], &[]);
            }
            Ok(Self { pool, layout, set })
        }
    }
}

impl<'a> Target<'a> {
    /// Creates all resources of the draw.
    pub(crate) fn new(gpu: &'a Gpu, draw: &Draw, size_px: u32) -> Result<Self> {
        check(gpu, draw)?;
        let colour_use = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        let colour =
            draw.format.map(|format| image(gpu, format, colour_use, size_px)).transpose()?;
        let stencil_use = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let has_stencil = draw.stencil != Stencil::Off;
        let stencil = has_stencil.then(|| image(gpu, stencil_format(gpu)?, stencil_use, size_px));
        let stencil = stencil.transpose()?;
        let storage_use = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_DST;
        let storage =
            draw.in_shader.map(|_| image(gpu, STORAGE_FORMAT, storage_use, size_px)).transpose()?;
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let to = vk::BufferUsageFlags::TRANSFER_DST;
        let index_bytes = CAPACITY * CORNERS.len() as u64 * 4;
        let staging = buffer(gpu, index_bytes, vk::BufferUsageFlags::TRANSFER_SRC, host)?;
        let rectangles_use = vk::BufferUsageFlags::STORAGE_BUFFER | to;
        let rectangles = buffer(gpu, CAPACITY * RECTANGLE_BYTES, rectangles_use, local)?;
        let indices = buffer(gpu, index_bytes, vk::BufferUsageFlags::INDEX_BUFFER | to, local)?;
        let warps = buffer(gpu, 4, vk::BufferUsageFlags::STORAGE_BUFFER, host)?;
        // SAFETY: the device is alive, everything given is its own, and the structures live through the calls.
        unsafe {
            let device = &gpu.device;
            let descriptors = Descriptors::new(gpu, &rectangles, &warps, storage.as_ref())?;
            let constants = vk::PushConstantRange::default()
                .stage_flags(vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT)
                .size(12);
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(slice::from_ref(&descriptors.layout))
                .push_constant_ranges(slice::from_ref(&constants));
            let layout = device.create_pipeline_layout(&info, None)?;
            let mut pipelines = vec![pipeline(gpu, draw, size_px, layout, false)?];
            if matches!(draw.stencil, Stencil::Keep(_) | Stencil::Sparse) {
                pipelines.push(pipeline(gpu, draw, size_px, layout, true)?);
            }
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(gpu.commands)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];
            let target = Self {
                gpu,
                draw: *draw,
                size_px,
                colour,
                stencil,
                storage,
                staging,
                rectangles,
                indices,
                warps,
                descriptors,
                layout,
                pipelines,
                timestamps: queries(gpu, vk::QueryType::TIMESTAMP, 2)?,
                occlusion: queries(gpu, vk::QueryType::OCCLUSION, 1)?,
                commands,
                fence: device.create_fence(&vk::FenceCreateInfo::default(), None)?,
            };
            let corners = (0..CAPACITY as u32).flat_map(|n| CORNERS.map(|corner| 4 * n + corner));
            target.upload(&corners.collect::<Vec<u32>>(), target.indices.handle)?;
            Ok(target)
        }
    }

    /// Records commands, submits them and waits for their end.
    fn run(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<()> {
        let device = &self.gpu.device;
        // SAFETY: the commands are not running, since each run waits for their end.
        unsafe {
            let once = vk::CommandBufferBeginInfo::default()
                .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            device.begin_command_buffer(self.commands, &once)?;
            record(self.commands);
            device.end_command_buffer(self.commands)?;
            let submit = vk::SubmitInfo::default().command_buffers(slice::from_ref(&self.commands));
            device.queue_submit(self.gpu.queue, &[submit], self.fence)?;
            device.wait_for_fences(&[self.fence], true, u64::MAX)?;
            device.reset_fences(&[self.fence])?;
        }
        Ok(())
    }

    /// Copies values to the start of a buffer of the device.
    fn upload<T: Copy>(&self, values: &[T], to: vk::Buffer) -> Result<()> {
        let bytes = size_of_val(values) as u64;
        let device = &self.gpu.device;
        // SAFETY: the memory is visible to the host and as large as the largest buffer, and no command reads it now.
        unsafe {
            let map = device.map_memory(
                self.staging.memory,
                0,
                vk::WHOLE_SIZE,
                vk::MemoryMapFlags::empty(),
            )?;
            std::ptr::copy_nonoverlapping(values.as_ptr(), map.cast::<T>(), values.len());
            device.unmap_memory(self.staging.memory);
        }
        self.run(|commands| {
            let region = vk::BufferCopy::default().size(bytes);
            // SAFETY: both buffers are at least that large.
            unsafe { device.cmd_copy_buffer(commands, self.staging.handle, to, &[region]) };
        })
    }

    /// Uploads a rectangle that covers the picture, for the mask, followed by `rectangles`.
    fn upload_rectangles(&self, rectangles: &[[f32; 4]]) -> Result<()> {
        if rectangles.len() as u64 >= CAPACITY {
            bail!("expected fewer than {CAPACITY} rectangles, found {}", rectangles.len());
        }
        let size = self.size_px as f32;
        let all = [&[[0.0, 0.0, size, size]], rectangles].concat();
        self.upload(&all, self.rectangles.handle)
    }

    /// Times of draws of the rectangles, in milliseconds.
    pub(crate) fn times_ms(&self, rectangles: &[[f32; 4]], repeats: usize) -> Result<Vec<f64>> {
        self.upload_rectangles(rectangles)?;
        let mut times = Vec::new();
        // The first draw warms up the device and does not count.
        for repeat in 0..=repeats {
            self.run(|commands| self.record(commands, rectangles.len() as u32, false))?;
            let mut ticks = [0u64; 2];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            let device = &self.gpu.device;
            // SAFETY: both queries have been written.
            unsafe { device.get_query_pool_results(self.timestamps, 0, &mut ticks, flags)? };
            if repeat > 0 {
                times.push(ticks[1].wrapping_sub(ticks[0]) as f64 * self.gpu.tick_ns / 1e6);
            }
        }
        Ok(times)
    }

    /// Number of pixels of the rectangles that pass the stencil test.
    pub(crate) fn passing(&self, rectangles: &[[f32; 4]]) -> Result<u64> {
        self.upload_rectangles(rectangles)?;
        self.run(|commands| self.record(commands, rectangles.len() as u32, true))?;
        let mut passing = [0u64];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        let device = &self.gpu.device;
        // SAFETY: the query has been written.
        unsafe { device.get_query_pool_results(self.occlusion, 0, &mut passing, flags)? };
        Ok(passing[0])
    }

    /// Number of subgroups that shade the rectangles.
    pub(crate) fn warps(&self, rectangles: &[[f32; 4]]) -> Result<u32> {
        self.upload_rectangles(rectangles)?;
        self.exchange_warps(0)?;
        self.run(|commands| {
            self.record(commands, rectangles.len() as u32, false);
            let memory = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ);
            let [all, host] = [vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::HOST];
            let none = vk::DependencyFlags::empty();
            // SAFETY: the commands are being recorded.
            unsafe {
                self.gpu.device.cmd_pipeline_barrier(
                    commands,
                    all,
                    host,
                    none,
                    &[memory],
                    &[],
                    &[],
                );
            }
        })?;
        self.exchange_warps(0)
    }

    /// Replaces the count of subgroups, and returns it.
    fn exchange_warps(&self, count: u32) -> Result<u32> {
        let (device, memory) = (&self.gpu.device, self.warps.memory);
        // SAFETY: the memory is visible to the host and holds a number, and no command uses it now.
        unsafe {
            let map = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
            let before = std::ptr::replace(map.cast::<u32>(), count);
            device.unmap_memory(memory);
            Ok(before)
        }
    }

    /// Records a draw, either with timestamps or with a count of the pixels that pass.
    fn record(&self, commands: vk::CommandBuffer, count: u32, counts: bool) {
        let device = &self.gpu.device;
        let kept = match self.draw.stencil {
            Stencil::Keep(kept) => kept,
            // This value is no mask of quads: the shader keeps one pixel per tile.
            _ => u32::MAX,
        };
        let size = (self.size_px as f32).to_bits();
        let constants: Vec<u8> =
            [size, size, kept].into_iter().flat_map(u32::to_ne_bytes).collect();
        // SAFETY: the commands are being recorded, and everything that they use lives until they have run.
        unsafe {
            device.cmd_reset_query_pool(commands, self.timestamps, 0, 2);
            device.cmd_reset_query_pool(commands, self.occlusion, 0, 1);
            self.prepare(commands);
            let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
            device.cmd_push_constants(commands, self.layout, stages, 0, &constants);
            let graphics = vk::PipelineBindPoint::GRAPHICS;
            device.cmd_bind_descriptor_sets(
                commands,
                graphics,
                self.layout,
                0,
                &[self.descriptors.set],
                &[],
            );
            device.cmd_bind_index_buffer(commands, self.indices.handle, 0, vk::IndexType::UINT32);
            let bottom = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            self.pass(commands, self.pipelines.get(1).map(|mask| (*mask, 0..1)), (true, false));
            if !counts {
                device.cmd_write_timestamp(commands, bottom, self.timestamps, 0);
            }
            self.pass(commands, Some((self.pipelines[0], 1..count + 1)), (false, counts));
            if !counts {
                device.cmd_write_timestamp(commands, bottom, self.timestamps, 1);
            }
        }
    }

    /// Changes the images to the layouts of the draw, and clears the storage image.
    unsafe fn prepare(&self, commands: vk::CommandBuffer) {
        let device = &self.gpu.device;
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = |image: &Image, format, layout| {
            vk::ImageMemoryBarrier::default()
                .image(image.handle)
                .src_access_mask(access)
                .dst_access_mask(access)
                .new_layout(layout)
                .subresource_range(whole(format))
        };
        let mut barriers = Vec::new();
        if let (Some(image), Some(format)) = (&self.colour, self.draw.format) {
            barriers.push(barrier(image, format, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL));
        }
        if let (Some(image), Ok(format)) = (&self.stencil, stencil_format(self.gpu)) {
            barriers.push(barrier(
                image,
                format,
                vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            ));
        }
        if let Some(image) = &self.storage {
            barriers.push(barrier(image, STORAGE_FORMAT, vk::ImageLayout::GENERAL));
        }
        let none = vk::DependencyFlags::empty();
        // SAFETY: the commands are being recorded, and the images are alive.
        unsafe {
            device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &barriers);
            if let Some(image) = &self.storage {
                let clear = vk::ClearColorValue::default();
                let (layout, all_of_it) = (vk::ImageLayout::GENERAL, whole(STORAGE_FORMAT));
                device.cmd_clear_color_image(commands, image.handle, layout, &clear, &[all_of_it]);
                let memory =
                    vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(access);
                device.cmd_pipeline_barrier(commands, all, all, none, &[memory], &[], &[]);
            }
        }
    }

    /// Draws rectangles with a pipeline. The first pass clears; a pass may count the pixels that pass.
    unsafe fn pass(
        &self,
        commands: vk::CommandBuffer,
        draws: Option<(vk::Pipeline, Range<u32>)>,
        (clears, is_counted): (bool, bool),
    ) {
        let device = &self.gpu.device;
        let attachment = |image: &Image, layout| {
            vk::RenderingAttachmentInfo::default()
                .image_view(image.view)
                .image_layout(layout)
                .load_op(if clears {
                    vk::AttachmentLoadOp::CLEAR
                } else {
                    vk::AttachmentLoadOp::LOAD
                })
                .store_op(vk::AttachmentStoreOp::STORE)
        };
        let colour = self.colour.as_ref();
        let colour =
            colour.map(|image| attachment(image, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL));
        let stencil = self.stencil.as_ref();
        let stencil = stencil
            .map(|image| attachment(image, vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL));
        let mut info = vk::RenderingInfo::default()
            .render_area(extent(self.size_px).into())
            .layer_count(1)
            .color_attachments(colour.as_slice());
        if let Some(stencil) = &stencil {
            info = info.stencil_attachment(stencil);
        }
        // SAFETY: the commands are being recorded outside of a pass, and the images are ready.
        unsafe {
            device.cmd_begin_rendering(commands, &info);
            if let Some((pipeline, rectangles)) = draws {
                let corners = CORNERS.len() as u32;
                let [first, count] =
                    [rectangles.start, rectangles.len() as u32].map(|n| n * corners);
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
                if is_counted {
                    let precise = vk::QueryControlFlags::PRECISE;
                    device.cmd_begin_query(commands, self.occlusion, 0, precise);
                }
                device.cmd_draw_indexed(commands, count, 1, first, 0, 0);
                if is_counted {
                    device.cmd_end_query(commands, self.occlusion, 0);
                }
            }
            device.cmd_end_rendering(commands);
            let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
            let memory =
                vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(access);
            let all = vk::PipelineStageFlags::ALL_COMMANDS;
            device.cmd_pipeline_barrier(
                commands,
                all,
                all,
                vk::DependencyFlags::empty(),
                &[memory],
                &[],
                &[],
            );
        }
    }
}

impl Drop for Target<'_> {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // SAFETY: each run has waited for its end, so that nothing of this is in use.
        unsafe {
            device.destroy_fence(self.fence, None);
            device.free_command_buffers(self.gpu.commands, &[self.commands]);
            device.destroy_query_pool(self.timestamps, None);
            device.destroy_query_pool(self.occlusion, None);
            for pipeline in &self.pipelines {
                device.destroy_pipeline(*pipeline, None);
            }
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_pool(self.descriptors.pool, None);
            device.destroy_descriptor_set_layout(self.descriptors.layout, None);
            for image in [&self.colour, &self.stencil, &self.storage].into_iter().flatten() {
                device.destroy_image_view(image.view, None);
                device.destroy_image(image.handle, None);
                device.free_memory(image.memory, None);
            }
            for buffer in [&self.staging, &self.rectangles, &self.indices, &self.warps] {
                device.destroy_buffer(buffer.handle, None);
                device.free_memory(buffer.memory, None);
            }
        }
    }
}
