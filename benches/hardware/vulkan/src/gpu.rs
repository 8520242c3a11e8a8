//! Vulkan device with a graphics queue.

use std::ffi::CStr;
use std::slice;

use anyhow::{Context, Result, bail};
use ash::{Device, Entry, Instance, vk};

/// An opened Vulkan device with its queue and its command pool.
pub(crate) struct Gpu {
    /// Name of the device, without commas.
    pub(crate) name: String,
    pub(crate) device: Device,
    pub(crate) queue: vk::Queue,
    pub(crate) commands: vk::CommandPool,
    /// Nanoseconds per tick of the device's timestamps.
    pub(crate) tick_ns: f64,
    /// Whether fragment shaders can wait for the shaders of earlier primitives.
    pub(crate) has_interlock: bool,
    /// Lanes of a subgroup; `None` if fragment shaders cannot elect a lane.
    pub(crate) subgroup_lanes: Option<u32>,
    pub(crate) instance: Instance,
    pub(crate) physical: vk::PhysicalDevice,
    memory: vk::PhysicalDeviceMemoryProperties,
    /// The loaded driver, which must outlive the rest.
    _entry: Entry,
}

fn instance() -> Result<(Entry, Instance)> {
    // SAFETY: the loader is the system's, which has no preconditions.
    let entry = unsafe { Entry::load() }.context("no Vulkan loader (libvulkan.so.1)")?;
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: the structures are valid and live through the call.
    let instance = unsafe { entry.create_instance(&info, None) }.context("no Vulkan instance")?;
    Ok((entry, instance))
}

fn devices(instance: &Instance) -> Result<Vec<(vk::PhysicalDevice, String)>> {
    // SAFETY: the instance is alive.
    let found = unsafe { instance.enumerate_physical_devices() }.context("no Vulkan device")?;
    let named = found.into_iter().map(|physical| {
        // SAFETY: the device is of this instance.
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        let name = properties.device_name_as_c_str().unwrap_or(c"unnamed");
        (physical, name.to_string_lossy().replace(',', ""))
    });
    Ok(named.collect())
}

impl Gpu {
    /// Names of all devices.
    pub(crate) fn names() -> Result<Vec<String>> {
        let (_entry, instance) = instance()?;
        Ok(devices(&instance)?.into_iter().map(|(_, name)| name).collect())
    }

    /// Opens the device with this number in the order of the driver.
    pub(crate) fn new(number: usize) -> Result<Self> {
        let (entry, instance) = instance()?;
        let all = devices(&instance)?;
        let count = all.len();
        let Some((physical, name)) = all.into_iter().nth(number) else {
            bail!("--device: expected a number below {count}, found {number}");
        };
        // SAFETY (of this block): the device is of this instance, and the structures live through the calls.
        unsafe {
            let families = instance.get_physical_device_queue_family_properties(physical);
            let draws = |family: &vk::QueueFamilyProperties| {
                family.queue_flags.contains(vk::QueueFlags::GRAPHICS)
                    && family.timestamp_valid_bits > 0
            };
            let family = families.iter().position(draws);
            let family = family.context("no queue that draws and has timestamps")? as u32;
            let extension = ash::ext::fragment_shader_interlock::NAME;
            let extensions = instance.enumerate_device_extension_properties(physical)?;
            let mut names = extensions.iter().filter_map(|e| e.extension_name_as_c_str().ok());
            let is_known = names.any(|name| name == extension);
            let mut interlock = vk::PhysicalDeviceFragmentShaderInterlockFeaturesEXT::default();
            if is_known {
                let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut interlock);
                instance.get_physical_device_features2(physical, &mut all);
            }
            let has_interlock = interlock.fragment_shader_pixel_interlock == vk::TRUE;
            let mut interlock = vk::PhysicalDeviceFragmentShaderInterlockFeaturesEXT::default()
                .fragment_shader_pixel_interlock(true);
            let mut version13 =
                vk::PhysicalDeviceVulkan13Features::default().dynamic_rendering(true);
            let features = vk::PhysicalDeviceFeatures::default()
                .fragment_stores_and_atomics(true)
                .occlusion_query_precise(true);
            let queue = vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&[1.0]);
            let pointers = [extension.as_ptr()];
            let mut info = vk::DeviceCreateInfo::default()
                .queue_create_infos(slice::from_ref(&queue))
                .enabled_features(&features)
                .push_next(&mut version13);
            if has_interlock {
                info = info.enabled_extension_names(&pointers).push_next(&mut interlock);
            }
            let device = instance.create_device(physical, &info, None);
            let device =
                device.with_context(|| format!("{name}: no Vulkan 1.3 with dynamic rendering"))?;
            let pool = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let limits = instance.get_physical_device_properties(physical).limits;
            let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
            let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup);
            instance.get_physical_device_properties2(physical, &mut all);
            let elects = subgroup.supported_stages.contains(vk::ShaderStageFlags::FRAGMENT)
                && subgroup.supported_operations.contains(vk::SubgroupFeatureFlags::BASIC);
            Ok(Self {
                name,
                queue: device.get_device_queue(family, 0),
                commands: device.create_command_pool(&pool, None)?,
                tick_ns: f64::from(limits.timestamp_period),
                has_interlock,
                subgroup_lanes: elects.then_some(subgroup.subgroup_size),
                memory: instance.get_physical_device_memory_properties(physical),
                device,
                instance,
                physical,
                _entry: entry,
            })
        }
    }

    /// Allocates memory with the properties `flags` for a resource.
    pub(crate) fn allocate(
        &self,
        needs: vk::MemoryRequirements,
        flags: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory> {
        let fits = |at: &u32| {
            let has_kind = self.memory.memory_types[*at as usize].property_flags.contains(flags);
            needs.memory_type_bits >> at & 1 == 1 && has_kind
        };
        let kind = (0..self.memory.memory_type_count).find(fits);
        let kind = kind.context("no memory of the kind that a resource needs")?;
        let info =
            vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
        // SAFETY: the device is alive and the memory type is its own.
        Ok(unsafe { self.device.allocate_memory(&info, None) }?)
    }

    /// Creates a shader from the bytes of a SPIR-V file.
    pub(crate) fn shader(&self, spirv: &[u8]) -> Result<vk::ShaderModule> {
        let words = ash::util::read_spv(&mut std::io::Cursor::new(spirv))?;
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: glslangValidator has made the words, and they live through the call.
        Ok(unsafe { self.device.create_shader_module(&info, None) }?)
    }

    /// Name of the entry point of all shaders.
    pub(crate) fn entry_point() -> &'static CStr {
        c"main"
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: nothing runs any more, and everything made of the device is gone.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_command_pool(self.commands, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
