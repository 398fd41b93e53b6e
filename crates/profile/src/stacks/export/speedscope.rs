//! The file format of speedscope: <https://www.speedscope.app/file-format-schema.json>.

use serde::Serialize;

use super::{ExportError, Exported, ExportedSide};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: &'a str,
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: Vec<SampledProfile>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<SharedFrame<'a>>,
}

#[derive(Serialize)]
struct SharedFrame<'a> {
    name: &'a str,
    file: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SampledProfile {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: f64,
    end_value: f64,
    samples: Vec<Vec<usize>>,
    weights: Vec<f64>,
}

/// A profile for each side and thread that has anything, the last side first: what is looked at is the head.
pub(super) fn write(exported: &Exported<'_>) -> Result<Vec<u8>, ExportError> {
    let frames = (exported.profile.frames.iter())
        .map(|frame| SharedFrame { name: &frame.function, file: frame.file.as_deref().unwrap_or(&frame.object) })
        .collect();
    let mut profiles: Vec<SampledProfile> = Vec::new();
    for side in exported.sides.iter().rev() {
        let mut of_side = of_threads(exported, side);
        of_side.sort_by(|left, right| right.end_value.total_cmp(&left.end_value));
        profiles.extend(of_side);
    }
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: "zerolap",
        name: &exported.title,
        active_profile_index: 0,
        shared: Shared { frames },
        profiles,
    };
    Ok(serde_json::to_vec(&file).map_err(std::io::Error::from)?)
}

fn of_threads(exported: &Exported<'_>, side: &ExportedSide) -> Vec<SampledProfile> {
    let unit = if side.cpu_ns_per_op.is_some() { "nanoseconds" } else { "none" };
    let mut profiles: Vec<SampledProfile> = (exported.profile.threads.iter())
        .map(|thread| SampledProfile {
            r#type: "sampled",
            name: format!("{}: {thread}", side.name),
            unit,
            start_value: 0.0,
            end_value: 0.0,
            samples: Vec::new(),
            weights: Vec::new(),
        })
        .collect();
    for (thread, frames, samples) in exported.stacks(side) {
        let profile = &mut profiles[thread];
        let cost = exported.cost(side, samples);
        profile.samples.push(frames);
        profile.weights.push(cost);
        profile.end_value += cost;
    }
    profiles.retain(|profile| !profile.samples.is_empty());
    profiles
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of_side, planted};
    use super::super::{Format, export};

    #[test]
    fn threads_are_profiles_in_nanoseconds_of_a_request() {
        let planted = planted();
        let written = export(&of_side(&planted, 0, Some(1000.0)), Format::Speedscope).expect("exported");
        let file: serde_json::Value = serde_json::from_slice(&written).expect("JSON");
        assert_eq!(file["shared"]["frames"][2]["file"], "server");
        assert_eq!(file["profiles"][0]["name"], "base: main");
        assert_eq!(file["profiles"][0]["samples"], serde_json::json!([[0], [0, 1]]));
        assert_eq!(file["profiles"][0]["weights"], serde_json::json!([100.0, 600.0]));
        assert_eq!(file["profiles"][1]["endValue"], 300.0);
        assert_eq!(file["profiles"][1]["unit"], "nanoseconds");
    }
}
