//! pprof's `profile.proto`: <https://github.com/google/pprof/blob/main/proto/profile.proto>.
//!
//! The messages are those of the published description, with the fields that are written here.

use std::collections::HashMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::{ExportError, Exported, ExportedSide, REQUESTS};

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// One side, its threads as the label `thread`. The first value is samples, or nanoseconds off the processor; where the
/// cost of a request is known, a second one has the nanoseconds of [`REQUESTS`] requests.
pub(super) fn write(exported: &Exported<'_>, side: &ExportedSide) -> Result<Vec<u8>, ExportError> {
    let mut texts = Texts::default();
    let mut profile = Profile::default();
    let (counted, unit, time) =
        if exported.is_of_waits() { ("off_cpu", "nanoseconds", "off_cpu") } else { ("samples", "count", "cpu") };
    profile.sample_type.push(ValueType { r#type: texts.number(counted), unit: texts.number(unit) });
    if side.cpu_ns_per_op.is_some() {
        let of_requests = format!("{time}_of_{REQUESTS}_requests");
        profile.sample_type.push(ValueType { r#type: texts.number(&of_requests), unit: texts.number("nanoseconds") });
        profile.default_sample_type = texts.number(&of_requests);
    }
    profile.comment = vec![texts.number(&format!("{}, {}", exported.title, side.name))];
    add_functions(exported, &mut profile, &mut texts);
    let thread_key = texts.number("thread");
    for (thread, frames, samples) in exported.stacks(side) {
        #[expect(clippy::cast_possible_truncation, reason = "no more than the number of samples")]
        let mut value = vec![samples.round() as i64];
        if side.cpu_ns_per_op.is_some() {
            value.push(exported.whole_cost(side, samples));
        }
        let location_id = frames.iter().rev().map(|frame| *frame as u64 + 1).collect();
        let label = vec![Label { key: thread_key, str: texts.number(&exported.profile.threads[thread]) }];
        profile.sample.push(Sample { location_id, value, label });
    }
    profile.string_table = texts.all;
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&profile.encode_to_vec())?;
    Ok(packed.finish()?)
}

/// A function and a location for each frame, a mapping for each object; numbers begin with 1.
fn add_functions(exported: &Exported<'_>, profile: &mut Profile, texts: &mut Texts) {
    let mut mappings: HashMap<&str, u64> = HashMap::new();
    for (id, frame) in (1..).zip(&exported.profile.frames) {
        let mapping_id = *mappings.entry(&frame.object).or_insert_with(|| {
            let id = profile.mapping.len() as u64 + 1;
            profile.mapping.push(Mapping { id, filename: texts.number(&frame.object), has_functions: true });
            id
        });
        let name = texts.number(&frame.function);
        let filename = texts.number(frame.file.as_deref().unwrap_or_default());
        profile.function.push(Function { id, name, system_name: name, filename });
        profile.location.push(Location { id, mapping_id, line: vec![Line { function_id: id }] });
    }
}

/// Texts, each once; the first is empty, as the format has it.
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, i64>,
}

impl Default for Texts {
    fn default() -> Self {
        Self { all: vec![String::new()], numbers: HashMap::from([(String::new(), 0)]) }
    }
}

impl Texts {
    fn number(&mut self, text: &str) -> i64 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let number = self.all.len().cast_signed() as i64;
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::super::tests::{of_side, planted};
    use super::super::{Format, export};
    use super::*;

    #[test]
    fn samples_have_their_leaf_first_and_two_values() {
        let planted = planted();
        let written = export(&of_side(&planted, 1, Some(2.0)), Format::Pprof).expect("exported");
        let mut bytes = Vec::new();
        GzDecoder::new(&*written).read_to_end(&mut bytes).expect("gzip");
        let profile = Profile::decode(&*bytes).expect("protobuf");
        assert_eq!(profile.string_table[0], "");
        let stacks: Vec<(Vec<u64>, Vec<i64>)> =
            profile.sample.iter().map(|sample| (sample.location_id.clone(), sample.value.clone())).collect();
        assert_eq!(
            stacks,
            [(vec![1], vec![10, 200_000]), (vec![2, 1], vec![50, 1_000_000]), (vec![3, 2, 1], vec![40, 800_000])]
        );
        assert_eq!(profile.mapping.len(), 1);
    }
}
