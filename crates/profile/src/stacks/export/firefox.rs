//! The processed profile format of the Firefox Profiler.

use std::time::UNIX_EPOCH;

use fxprof_processed_profile::{
    CategoryColor, CategoryPairHandle, CpuDelta, Frame, FrameFlags, FrameInfo, Profile, SamplingInterval, Timestamp,
    WeightType,
};

use super::{ExportError, Exported, ExportedSide, Kind, REQUESTS, kind_of};
use crate::stacks;

/// Milliseconds between samples: their places on the axis mean nothing.
const APART_MS: f64 = 1.0;

struct Categories {
    server: CategoryPairHandle,
    library: CategoryPairHandle,
    kernel: CategoryPairHandle,
}

/// A process for each side with a thread for each of its threads. Weights are milliseconds of [`REQUESTS`] requests
/// where the cost of a request is known, else samples.
pub(super) fn write(exported: &Exported<'_>) -> Result<Vec<u8>, ExportError> {
    let interval = SamplingInterval::from_millis(1);
    let mut profile = Profile::new(&exported.title, UNIX_EPOCH.into(), interval);
    let categories = Categories {
        server: profile.add_category("Server", CategoryColor::Blue).into(),
        library: profile.add_category("Library", CategoryColor::Green).into(),
        kernel: profile.add_category("Kernel", CategoryColor::Orange).into(),
    };
    for (number, side) in (1..).zip(&exported.sides) {
        add_side(&mut profile, exported, side, number, &categories);
    }
    Ok(serde_json::to_vec(&profile).map_err(std::io::Error::from)?)
}

fn add_side(profile: &mut Profile, exported: &Exported<'_>, side: &ExportedSide, number: u32, categories: &Categories) {
    let zero = Timestamp::from_millis_since_reference(0.0);
    let process = profile.add_process(&side.name, number, zero);
    let mut threads = vec![None; exported.profile.threads.len()];
    let mut taken = vec![0_u32; exported.profile.threads.len()];
    for (thread, frames, samples) in exported.stacks(side) {
        let weight = i32::try_from(weight(exported, side, samples)).unwrap_or(i32::MAX);
        if weight == 0 {
            continue;
        }
        let handle = *threads[thread].get_or_insert_with(|| {
            let tid = 1000 * number + u32::try_from(thread).unwrap_or_default();
            let handle = profile.add_thread(process, tid, zero, false);
            profile.set_thread_name(handle, &format!("{}: {}", side.name, exported.profile.threads[thread]));
            if side.cpu_ns_per_op.is_some() {
                profile.set_thread_samples_weight_type(handle, WeightType::TracingMs);
            }
            profile.add_initial_visible_thread(handle);
            handle
        });
        let frames: Vec<FrameInfo> = (frames.into_iter())
            .map(|frame| {
                let frame = &exported.profile.frames[frame];
                let category_pair = match kind_of(&frame.object) {
                    Kind::Kernel => categories.kernel,
                    Kind::Server => categories.server,
                    Kind::Library | Kind::Other => categories.library,
                };
                let label = Frame::Label(profile.intern_string(&label(frame)));
                FrameInfo { frame: label, category_pair, flags: FrameFlags::empty() }
            })
            .collect();
        let stack = profile.intern_stack_frames(handle, frames.into_iter());
        let time = Timestamp::from_millis_since_reference(f64::from(taken[thread]) * APART_MS);
        taken[thread] += 1;
        profile.add_sample(handle, time, stack, CpuDelta::ZERO, weight);
    }
}

fn weight(exported: &Exported<'_>, side: &ExportedSide, samples: f64) -> i64 {
    const NANOSECONDS: i64 = 1_000_000;
    let cost = exported.whole_cost(side, samples);
    // A whole number of milliseconds: of a million requests, each is a nanosecond of one.
    const { assert!(REQUESTS == 1_000_000) };
    if side.cpu_ns_per_op.is_some() { (cost + NANOSECONDS / 2) / NANOSECONDS } else { cost }
}

fn label(frame: &stacks::Frame) -> String {
    let place = frame.file.as_ref().unwrap_or(&frame.object);
    let inlined = if frame.inlined { ", inlined" } else { "" };
    format!("{} ({place}{inlined})", frame.function)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of_side, planted};
    use super::super::{Format, export};

    #[test]
    fn sides_are_processes_and_weights_milliseconds_of_a_million_requests() {
        let planted = planted();
        let written = export(&of_side(&planted, 1, Some(1000.0)), Format::Firefox).expect("exported");
        let file: serde_json::Value = serde_json::from_slice(&written).expect("JSON");
        let thread = &file["threads"][0];
        assert_eq!(thread["name"], "head: main");
        assert_eq!(thread["samples"]["weightType"], "tracing-ms");
        assert_eq!(thread["samples"]["weight"], serde_json::json!([100, 500, 400]));
        assert_eq!(file["threads"].as_array().map(Vec::len), Some(1));
    }
}
