//! The Rust crates as seen from Python: `zerolap._core`. Conversion only; what it does is documented in the crates it
//! calls, and for Python in `python/zerolap/_core.pyi`.

mod change_points;
mod counters;
mod errors;
mod load;
mod profile;
mod stacks;
mod stats;
mod system_calls;

#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::change_points::{ChangePoint, ChangeSearch, Changes, cusum, equivalence, slope};
    #[pymodule_export]
    use crate::counters::{ProcessCounters, fitting_counters};
    #[pymodule_export]
    use crate::errors::ZeroSideError;
    #[pymodule_export]
    use crate::load::{answer_of, describe_load, look_up_role};
    #[pymodule_export]
    use crate::profile::{
        BinaryFacts, binary_facts, call_graph, code_lines, compare_executed, executed, executed_beginning_with,
        executed_digest, executed_functions, function_code, merge_call_graphs, source_functions, structures,
        timer_graph,
    };
    #[pymodule_export]
    use crate::stacks::{
        export_profile, fold_stacks, function_lines, function_samples, functions_by_case, merge_stacks, read_stacks,
        read_waits, source_lines, stack_profile, stack_tree, with_line_texts,
    };
    #[pymodule_export]
    use crate::stats::{
        PairedChange, adjust_p, fit_prior, graph_levels, moderated_change, paired_change, sample_variance,
        trimmed_mean, variances_agree,
    };
    #[pymodule_export]
    use crate::system_calls::system_call_filter;
}
