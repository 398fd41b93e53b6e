//! What connections send, through the settings; the models are plain loops of their own.

mod all_keys;
mod drawn;
mod policies;
mod sizes;
mod walks;

use std::ffi::OsString;
use std::sync::Arc;

use zerolap_load_arguments::{Invocation, parse};
use zerolap_load_requests::{DataPool, RequestStream, Settings};

/// The settings of a command line, changed; a + stands for a blank within an argument.
fn settings(arguments: &str, change: impl FnOnce(&mut Settings)) -> Arc<Settings> {
    let arguments = arguments.split_whitespace().map(|argument| OsString::from(argument.replace('+', " ")));
    let Ok(Invocation::Run(run)) = parse(arguments) else { panic!("a run") };
    let mut settings = run.settings;
    change(&mut settings);
    Arc::new(settings)
}

/// A request: its words.
type Words = Vec<String>;

/// The first `count` requests of the connection with this index over all threads.
fn requests(settings: &Arc<Settings>, index: usize, count: usize) -> Vec<Words> {
    let pool = DataPool::new(settings);
    let mut stream = RequestStream::new(settings, &pool, index / settings.clients, index % settings.clients);
    (0..count)
        .map(|_| {
            let mut output = Vec::new();
            let command = stream.write_next(&mut output);
            let words = words(&output);
            assert!(settings.commands[command].line.starts_with(&words[0]));
            words
        })
        .collect()
}

/// The words of one request whose values hold no line breaks, one char for each byte.
fn words(request: &[u8]) -> Words {
    let text: String = request.iter().map(|&byte| char::from(byte)).collect();
    let mut rest = &text[text.find("\r\n").expect("a header") + 2..];
    let mut words = Vec::new();
    while let Some(header) = rest.strip_prefix('$') {
        let (length, body) = header.split_once("\r\n").expect("a header");
        let word: String = body.chars().take(length.parse().expect("a length")).collect();
        rest = body.strip_prefix(word.as_str()).and_then(|rest| rest.strip_prefix("\r\n")).expect("the end of a word");
        words.push(word);
    }
    assert!(rest.is_empty());
    words
}

/// The keys (second words) of the first `count` requests of a connection.
fn keys(settings: &Arc<Settings>, index: usize, count: usize) -> Vec<u64> {
    let key = |words: &Words| words[1].trim_start_matches("memtier-").parse().expect("an id");
    requests(settings, index, count).iter().map(key).collect()
}

/// How often each key up to `maximum` is among `keys`.
fn counts(keys: &[u64], maximum: u64) -> Vec<u64> {
    let mut counts = vec![0; usize::try_from(maximum).expect("few keys") + 1];
    for &key in keys {
        counts[usize::try_from(key).expect("a small key")] += 1;
    }
    counts
}
