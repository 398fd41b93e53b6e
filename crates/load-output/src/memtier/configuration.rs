//! What was asked for, under memtier's names.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::ReportSettings;
use zerolap_load_requests::{
    Amount, Arrivals, DataSizes, Endpoint, IpVersion, KeyPattern, Plan, Policy, Settings, Source,
};

/// memtier's list of its settings. What it has and this program has not is null, 0 or false.
pub fn configuration(settings: &Settings, report: &ReportSettings, plan: &Plan) -> Value {
    let server = &settings.server;
    let (host, port, socket) = match &server.endpoint {
        Endpoint::Tcp { host, port } => (host.as_str(), *port, None),
        Endpoint::Unix(path) => ("", 0, Some(path.display().to_string())),
    };
    let tls = server.tls.clone().unwrap_or_default();
    let path = |path: Option<PathBuf>| path.map(|path| path.display().to_string());
    let family = match server.ip_version {
        None => "Unspecified",
        Some(IpVersion::V4) => "AF_INET",
        Some(IpVersion::V6) => "AF_INET6",
    };
    let (requests, test_time) = amounts(plan);
    let (size, range, list) = sizes(&settings.data.sizes);
    let connecting = &settings.connecting;
    let keys = &settings.keys;
    let entries = [
        ("server", json!(host)),
        ("port", json!(port)),
        ("uri", json!("")),
        ("unix socket", json!(socket)),
        ("address family", json!(family)),
        ("protocol", json!(server.protocol.name())),
        ("out_file", json!(report.out_file)),
        ("tls", json!(text(server.tls.is_some()))),
        ("cert", json!(path(tls.certificate))),
        ("key", json!(path(tls.key))),
        ("cacert", json!(path(tls.authorities))),
        ("tls_skip_verify", json!(text(tls.skip_verify))),
        ("sni", json!(tls.server_name)),
        ("client_stats", json!(null)),
        ("run_count", json!(plan.runs)),
        ("debug", json!(0)),
        ("requests", json!(requests)),
        ("rate_limit", json!(rate_limit(settings, plan))),
        ("clients", json!(settings.clients)),
        ("threads", json!(settings.threads)),
        ("test_time", json!(test_time)),
        ("ratio", json!(ratio(settings))),
        ("pipeline", json!(settings.pipeline)),
        ("data_size", json!(size)),
        ("data_offset", json!(settings.data.offset)),
        ("random_data", json!(text(settings.data.random))),
        ("data_size_range", json!(range)),
        ("data_size_list", json!(list)),
        ("data_size_pattern", json!(if matches!(settings.data.sizes, DataSizes::ByKey(..)) { "S" } else { "R" })),
        ("expiry_range", json!(expiry(settings))),
        ("data_import", json!(null)),
        ("data_verify", json!("false")),
        ("verify_only", json!("false")),
        ("generate_keys", json!("false")),
        ("key_prefix", json!(keys.prefix)),
        ("key_minimum", json!(keys.range.minimum())),
        ("key_maximum", json!(keys.range.maximum())),
        ("key_pattern", json!(pattern(settings))),
        ("key_stddev", json!(keys.standard_deviation.unwrap_or(0.0))),
        ("key_median", json!(keys.median.unwrap_or(0.0))),
        ("key_zipf_exp", json!(keys.zipf_exponent)),
        ("reconnect_interval", json!(connecting.reconnect_interval.map_or(0, u64::from))),
        ("connection_timeout", json!(connecting.connect_timeout.as_secs())),
        (
            "thread_conn_start_min_jitter_micros",
            json!(u64::try_from(connecting.jitter.0.as_micros()).unwrap_or(u64::MAX)),
        ),
        (
            "thread_conn_start_max_jitter_micros",
            json!(u64::try_from(connecting.jitter.1.as_micros()).unwrap_or(u64::MAX)),
        ),
        ("multi_key_get", json!(0)),
        ("authenticate", json!("")),
        ("select-db", json!(server.database)),
        ("no-expiry", json!("false")),
        ("wait-ratio", json!("0:0")),
        ("num-slaves", json!("0:0")),
        ("wait-timeout", json!("0-0")),
        ("print-all-runs", json!(text(report.print_all_runs))),
    ];
    Value::Object(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The short form that stands beside the results.
pub(crate) fn run_information(settings: &Settings, plan: &Plan) -> Value {
    let mut information = json!({
        "Threads": settings.threads, "Connections per thread": settings.clients, "Format version": 2,
    });
    match plan.work.amount {
        Amount::For(time) => information["Seconds"] = json!(time.as_secs_f64()),
        _ => information["Requests per client"] = json!(settings.quota(&plan.work, 0)),
    }
    information
}

fn text(is_so: bool) -> String {
    is_so.to_string()
}

fn amounts(plan: &Plan) -> (Value, f64) {
    match plan.work.amount {
        Amount::For(time) => (json!(0), time.as_secs_f64()),
        Amount::AllKeys => (json!("allkeys"), 0.0),
        Amount::Total(requests) | Amount::PerConnection(requests) => (json!(requests), 0.0),
    }
}

/// Requests a second on each connection, where all of them come evenly.
fn rate_limit(settings: &Settings, plan: &Plan) -> f64 {
    let pace = plan.work.pace.filter(|pace| pace.arrivals == Arrivals::Fixed);
    pace.map_or(0.0, |pace| pace.per_second.get() as f64 / settings.connections().max(1) as f64)
}

fn ratio(settings: &Settings) -> String {
    settings.commands.iter().map(|command| command.ratio.to_string()).collect::<Vec<_>>().join(":")
}

fn pattern(settings: &Settings) -> String {
    let letter = |pattern: KeyPattern| pattern.letter().to_string();
    settings.commands.iter().map(|command| letter(command.pattern)).collect::<Vec<_>>().join(":")
}

fn sizes(sizes: &DataSizes) -> (usize, String, String) {
    match sizes {
        DataSizes::Fixed(size) => (*size, "0:0".to_owned(), String::new()),
        DataSizes::Uniform(low, high) | DataSizes::ByKey(low, high) => (0, format!("{low}:{high}"), String::new()),
        DataSizes::Weighted(sizes) => {
            let list: Vec<String> = sizes.iter().map(|(size, weight)| format!("{size}:{weight}")).collect();
            (0, "0:0".to_owned(), list.join(","))
        }
    }
}

fn expiry(settings: &Settings) -> String {
    let seconds = settings.commands.iter().find_map(|command| match &command.source {
        Source::Expiring(expiry) => Some(expiry.seconds),
        Source::Template | Source::Recorded(_) => None,
    });
    let (least, most) = seconds.unwrap_or((0, 0));
    format!("{least}:{most}")
}

/// The word for the policy.
pub(crate) const fn policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Lab => "lab",
        Policy::Memtier => "memtier_benchmark",
    }
}
