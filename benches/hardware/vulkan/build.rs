//! Compiles the shaders with glslangValidator.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=shaders");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let shaders = fs::read_dir("shaders").expect("the folder of the shaders");
    for shader in shaders {
        let path = shader.expect("an entry of the folder").path();
        let name = path.file_name().expect("the name of a shader");
        let target = out.join(name).with_added_extension("spv");
        let run = Command::new("glslangValidator")
            .args(["--target-env", "vulkan1.3", "-o"])
            .args([&target, &path])
            .output();
        let run = run.expect("glslangValidator, of the package glslang-tools or of the Vulkan SDK");
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{}: {text}", path.display());
    }
}
