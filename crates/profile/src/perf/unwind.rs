//! From the registers and the stack of a sample to the addresses of its callers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use framehop::aarch64::{CacheAarch64, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, Module, Unwinder};
use linux_perf_data::linux_perf_event_reader::Regs;

use super::images::{Images, Placed};
use super::processes::{Mapping, Mappings};
use super::recording::u64_at;

/// perf's own limit is 127; a chain that goes in circles has no end.
const FRAMES_LIMIT: usize = 512;

type Section = Arc<[u8]>;

/// The state of the program when a sample was taken.
pub(super) struct UserState<'a> {
    pub(super) registers: Regs<'a>,
    /// From the stack pointer upwards.
    pub(super) stack: Cow<'a, [u8]>,
}

/// Unwinds the stacks of processes of one architecture.
pub(super) enum Stackwalk {
    X86(Processes<UnwinderX86_64<Section>>),
    Arm(Processes<UnwinderAarch64<Section>>),
    /// Of another architecture: no stacks.
    Unknown,
}

impl Stackwalk {
    /// `architecture` as `uname -m` prints it.
    pub(super) fn on(architecture: &str) -> Self {
        match architecture {
            "x86_64" => Self::X86(Processes { cache: CacheX86_64::new(), by_process: HashMap::new() }),
            "aarch64" => Self::Arm(Processes { cache: CacheAarch64::new(), by_process: HashMap::new() }),
            _ => Self::Unknown,
        }
    }

    /// Addresses within the instructions that were being executed, from the leaf to the root.
    pub(super) fn walk(
        &mut self,
        process: i32,
        state: &UserState<'_>,
        mappings: &Mappings,
        images: &mut Images,
    ) -> Vec<u64> {
        // The kernel's numbers of the registers: `arch/*/include/uapi/asm/perf_regs.h`.
        match self {
            Self::X86(processes) => {
                let [Some(bp), Some(sp), Some(ip)] = [6, 7, 8].map(|number| state.registers.get(number)) else {
                    return Vec::new();
                };
                processes.walk(process, mappings, images, ip, |_| UnwindRegsX86_64::new(ip, sp, bp), (sp, &state.stack))
            }
            Self::Arm(processes) => {
                let [Some(fp), Some(lr), Some(sp), Some(pc)] =
                    [29, 30, 31, 32].map(|number| state.registers.get(number))
                else {
                    return Vec::new();
                };
                let registers = |unwinder: &UnwinderAarch64<Section>| {
                    let mask = PtrAuthMask::from_max_known_address(unwinder.max_known_code_address().max(1));
                    UnwindRegsAarch64::new_with_ptr_auth_mask(mask, lr, sp, fp)
                };
                processes.walk(process, mappings, images, pc, registers, (sp, &state.stack))
            }
            Self::Unknown => Vec::new(),
        }
    }
}

pub(super) struct Processes<U: Unwinder> {
    cache: U::Cache,
    /// With the version of the mappings that it was made of.
    by_process: HashMap<i32, (u64, U)>,
}

impl<U: Unwinder<Module = Module<Section>> + Default> Processes<U> {
    fn walk(
        &mut self,
        process: i32,
        mappings: &Mappings,
        images: &mut Images,
        address: u64,
        registers: impl FnOnce(&U) -> U::UnwindRegs,
        (stack_pointer, stack): (u64, &[u8]),
    ) -> Vec<u64> {
        if self.by_process.get(&process).is_none_or(|(version, _)| *version != mappings.version) {
            let mut unwinder = U::default();
            mappings
                .iter()
                .filter_map(|mapping| module(mapping, images))
                .for_each(|module| unwinder.add_module(module));
            self.by_process.insert(process, (mappings.version, unwinder));
        }
        let Some((_, unwinder)) = self.by_process.get(&process) else { return Vec::new() };
        let mut read = |address: u64| {
            let from = address.checked_sub(stack_pointer).and_then(|offset| usize::try_from(offset).ok()).ok_or(())?;
            u64_at(stack, from).ok_or(())
        };
        let mut frames = unwinder.iter_frames(address, registers(unwinder), &mut self.cache, &mut read);
        let mut addresses = Vec::new();
        // An error is how most stacks end: at the end of what was recorded, or of what has unwind information.
        while let Ok(Some(frame)) = frames.next()
            && addresses.len() < FRAMES_LIMIT
        {
            addresses.push(frame.address_for_lookup());
        }
        addresses
    }
}

fn module(mapping: &Mapping, images: &mut Images) -> Option<Module<Section>> {
    let name = images.name(mapping.image).to_owned();
    let image = images.get(mapping.image)?;
    let base = image.bias(mapping.start, mapping.end, mapping.offset)?;
    let unwinding = image.unwinding.clone();
    let range = |placed: &Placed| placed.address..placed.address.saturating_add(placed.bytes.len() as u64);
    let sections = ExplicitModuleSectionInfo {
        // Addresses in the sections are those that the code was linked for.
        base_svma: 0,
        text_svma: Some(unwinding.text_address..unwinding.text_address),
        got_svma: Some(unwinding.got_address..unwinding.got_address),
        eh_frame_svma: unwinding.eh_frame.as_ref().map(range),
        eh_frame_hdr_svma: unwinding.eh_frame_hdr.as_ref().map(range),
        eh_frame: unwinding.eh_frame.map(|placed| placed.bytes),
        eh_frame_hdr: unwinding.eh_frame_hdr.map(|placed| placed.bytes),
        debug_frame: unwinding.debug_frame.map(|placed| placed.bytes),
        ..ExplicitModuleSectionInfo::default()
    };
    Some(Module::new(name, mapping.start..mapping.end, base, sections))
}
