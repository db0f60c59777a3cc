//! Programs in a view: they do what they like, and the real files stay as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::SHOWN_CHARS;
use super::yard::{State, Yard, state};
use crate::fence::Fence;
use crate::process::{self, Ended, Invocation, Order};
use crate::view::View;

#[test]
fn smoke() {
    let yard = Yard::new();
    let data = yard.home.join(".local/share/artoo");
    fs::create_dir_all(&data).unwrap();
    yard.file("work/old", "old\n");
    let mut yard = yard;
    yard.config.data_dir = Some(data);
    let view = Arc::new(View::prepare(&yard.config, &yard.protected, &[]).unwrap());
    let command =
        std::env::var("CMD").unwrap_or("pwd; ls -la; rm old; echo x > new; ls -la; mount | tail -5".to_owned());
    let invocation = Invocation {
        program: process::find_program(&yard.config, "bash").unwrap(),
        name: "bash".into(),
        arguments: ["--noprofile", "--norc", "-c", &command].map(Into::into).to_vec(),
        environment: Vec::new(),
    };
    let environment = process::environment(&yard.config);
    let order = invocation.order(&yard.config, &yard.sight, &environment, yard.fence());
    let order = Order { view: Some(Arc::clone(&view)), ..order };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ended = runtime.block_on(process::run(&yard.config, order, Duration::from_secs(20))).unwrap();
    println!("{:?} {}", ended.exit_code, ended.text(SHOWN_CHARS).0);
    println!("{:?}", view.layers());
    for layer in view.layers() {
        println!(
            "{}",
            String::from_utf8_lossy(
                &std::process::Command::new("find").arg(&layer.upper).arg("-ls").output().unwrap().stdout
            )
        );
    }
    println!("{:?}", view.renamed());
}
