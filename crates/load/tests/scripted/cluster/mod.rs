//! Clusters: which node gets which request, as nodes in this process see it.

mod breaking;
mod node_figures;
mod redirections;
mod replicas;
mod routing;

use serde_json::Value;

use crate::support::load;
use crate::support::scripted::Scripted;

/// Runs against the cluster that the first node knows; the whole document.
fn load_cluster(nodes: &[Scripted], arguments: &[&str]) -> Value {
    load(&nodes[0], &[&["--cluster-mode"], arguments].concat())
}
