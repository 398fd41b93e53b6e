//! A digest of what a server executed, equal in every process for programs that [`super::compare`] takes for identical.
//!
//! Nodes get a digest of what they do, which is refined by those of the nodes that they refer to and that refer to them, until that distinguishes no
//! further nodes: the classes of a comparison, by content instead of number. How often something was executed, but for
//! whether requests usually do, and what it is called are not in it.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use super::comparison::REQUESTS_SHARE;
use super::{Executed, Node, Times};
use crate::elf::hexadecimal;

/// Raised when the same executed instructions would get another digest.
const VERSION: &[u8] = b"zerolap.executed-code/2";
/// As many as in a comparison.
const ROUNDS_LIMIT: usize = 256;

type Signature = [u8; 32];

/// The SHA-256, in hexadecimal, of what a server executed; of the program's image where its instructions are not listed.
///
/// None where a library that was executed cannot be read, or the program's data are a long chain of pointers.
#[must_use]
pub fn canonical_digest(executed: &Executed) -> Option<String> {
    let mut whole = Sha256::new();
    add(&mut whole, VERSION);
    let mut libraries: Vec<_> =
        executed.libraries.iter().filter(|library| library.instructions != Times::default()).collect();
    libraries.sort_by(|one, other| (&one.name, &one.digest).cmp(&(&other.name, &other.digest)));
    whole.update((libraries.len() as u64).to_le_bytes());
    for library in libraries {
        if library.digest.is_empty() {
            return None;
        }
        add(&mut whole, library.name.as_bytes());
        add(&mut whole, library.digest.as_bytes());
    }
    if executed.unknown.is_some() {
        add(&mut whole, b"image");
        add(&mut whole, executed.image.as_bytes());
    } else {
        add(&mut whole, b"nodes");
        let mut signatures = refined(executed)?;
        signatures.sort_unstable();
        for signature in signatures {
            whole.update(signature);
        }
    }
    Some(hexadecimal(&whole.finalize()))
}

/// The signature of each node's class; none where too many rounds would be needed.
///
/// What refers to a node is in it too: two variables of equal content differ by who uses them.
fn refined(executed: &Executed) -> Option<Vec<Signature>> {
    let mut signatures: Vec<Signature> = executed.nodes.iter().map(|node| own(executed, node)).collect();
    let referring = referring(executed);
    let mut classes = count(&signatures);
    for _ in 0..=ROUNDS_LIMIT {
        signatures = (executed.nodes.iter().zip(&referring).zip(&signatures))
            .map(|((node, referring), signature)| {
                let mut hash = Sha256::new_with_prefix(signature);
                for target in node.lines.iter().flat_map(|line| &line.2) {
                    hash.update(signatures[*target as usize]);
                }
                let mut from: Vec<_> = referring.iter().map(|(node, place)| (signatures[*node], *place)).collect();
                from.sort_unstable();
                for (signature, place) in from {
                    hash.update(signature);
                    hash.update(place.to_le_bytes());
                }
                hash.finalize().into()
            })
            .collect();
        let finer = count(&signatures);
        if finer == classes {
            return Some(signatures);
        }
        classes = finer;
    }
    None
}

/// Of each node the nodes that refer to it, with the number of the reference among theirs.
fn referring(executed: &Executed) -> Vec<Vec<(usize, u64)>> {
    let mut referring = vec![Vec::new(); executed.nodes.len()];
    for (number, node) in executed.nodes.iter().enumerate() {
        for (place, target) in (0..).zip(node.lines.iter().flat_map(|line| &line.2)) {
            referring[*target as usize].push((number, place));
        }
    }
    referring
}

/// What a node does by its own lines, without what these refer to.
fn own(executed: &Executed, node: &Node) -> Signature {
    let mut hash = Sha256::new_with_prefix([u8::from(node.code)]);
    for line in &node.lines {
        add(&mut hash, executed.texts[line.0 as usize].as_bytes());
        for (times, requests) in line.1.iter().zip(executed.requests) {
            // What few requests execute, such as an allocator's flush, is executed in a window or not by chance.
            hash.update([u8::from(*times as f64 > requests as f64 * REQUESTS_SHARE)]);
        }
        hash.update((line.2.len() as u64).to_le_bytes());
    }
    hash.finalize().into()
}

fn count(signatures: &[Signature]) -> usize {
    signatures.iter().collect::<HashSet<_>>().len()
}

/// Adds bytes that end where their length says, so that what follows is not taken for a part of them.
fn add(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}
