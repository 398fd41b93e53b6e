//! From dumps to the graph of one request, and to the mean over seeds.

#![expect(clippy::float_cmp, reason = "sums and quotients of small whole numbers are exact")]

use std::fmt::Write as _;

use proptest::prelude::*;
use zerolap_profile::callgrind::{Dump, read};
use zerolap_profile::graph::{CallGraph, GraphError, merge};
use zerolap_profile::window::{Window, WindowError, per_request, per_tick};

const SOURCE_ROOT: &str = "/build/redis";

fn dump(text: &str) -> Dump {
    read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn graph(small: (&str, u64), large: (&str, u64)) -> CallGraph {
    let dumps = [dump(small.0), dump(large.0)];
    let small = Window { dump: &dumps[0], requests: small.1 };
    let large = Window { dump: &dumps[1], requests: large.1 };
    per_request(small, large, SOURCE_ROOT).unwrap_or_else(|error| panic!("{error}"))
}

fn one_request(text: &str) -> CallGraph {
    graph(("events: Ir\n", 0), (text, 1))
}

fn fixture() -> CallGraph {
    graph((include_str!("data/small.callgrind"), 10), (include_str!("data/large.callgrind"), 30))
}

#[test]
fn the_graph_of_a_request() {
    let expected: serde_json::Value = serde_json::from_str(include_str!("data/request.json")).expect("valid JSON");
    assert_eq!(serde_json::to_value(fixture()).expect("can be written"), expected);
}

#[test]
fn json_comes_back_as_it_was() {
    let graph = fixture();
    assert_eq!(CallGraph::from_json(&graph.to_json().expect("can be written")).expect("can be read"), graph);
}

#[test]
fn recursion_stays_an_edge_and_a_split_does_not() {
    let graph = one_request(
        "events: Ir\nob=server\nfl=/build/redis/src/a.c\nfn=walk\n1 10\ncfn=walk'2\ncalls=2 1\n2 5\nfn=walk'2\n1 5\n\
         fn=add\n20 3\ncfn=add.part.0\ncalls=1 21\n20 4\nfn=add.part.0\n21 4\n",
    );
    let names: Vec<_> = graph.functions.iter().map(|f| (f.name.as_str(), f.instructions, f.calls)).collect();
    assert_eq!(names, [("add", 7.0, 0.0), ("walk", 15.0, 2.0)]);
    assert_eq!(graph.edges.len(), 1);
}

#[test]
fn a_piece_that_begins_in_a_header_belongs_to_its_function() {
    let graph = one_request(
        "events: Ir\nob=server\nfl=/build/redis/src/a.c\nfn=add\n20 3\ncfi=/build/redis/src/a.h\ncfn=add.cold\n\
         calls=1 7\n20 4\nfl=/build/redis/src/a.h\nfn=add.cold\n7 4\n",
    );
    assert_eq!(graph.functions.len(), 1);
    assert_eq!((graph.functions[0].instructions, graph.edges.len()), (7.0, 0));
    assert_eq!(graph.functions[0].file.map(|file| graph.files[file].as_str()), Some("a.c"));
}

#[test]
fn functions_of_one_name_in_two_files_are_two() {
    let graph = one_request(
        "events: Ir\nob=server\nfl=/build/redis/src/a.c\nfn=cmp\n1 3\nfl=/build/redis/src/b.c\nfn=cmp\n1 4\nfl=???\nfn=0x10\n0 1\n",
    );
    let functions: Vec<_> =
        graph.functions.iter().map(|f| (f.name.as_str(), f.file.map(|file| graph.files[file].as_str()))).collect();
    assert_eq!(functions, [("0x10", None), ("cmp", Some("a.c")), ("cmp", Some("b.c"))]);
}

#[test]
fn a_window_must_grow() {
    let dump = dump("events: Ir\n");
    let window = |requests| Window { dump: &dump, requests };
    for (small, large) in [(5, 5), (6, 5)] {
        assert_eq!(per_request(window(small), window(large), ""), Err(WindowError::Requests { small, large }));
    }
}

#[test]
fn the_graph_of_a_tick_is_what_requests_do_not_explain() {
    let requests = dump("events: Ir\nob=server\nfl=/build/redis/src/a.c\nfn=command\n1 1000\n");
    let timers = dump(
        "events: Ir\nob=server\nfl=/build/redis/src/a.c\nfn=command\n1 600\nfn=cron\n9 40\ncfn=expire\ncalls=4 20\n\
         9 80\nfn=expire\n20 80\n",
    );
    let window = |dump, requests| Window { dump, requests };
    let tick = per_tick(window(&requests, 10), window(&timers, 6), 2, SOURCE_ROOT).expect("ticks and requests");
    let functions: Vec<_> = tick.functions.iter().map(|f| (f.name.as_str(), f.instructions, f.calls)).collect();
    assert_eq!(functions, [("cron", 20.0, 0.0), ("expire", 40.0, 2.0)]);
    assert_eq!(tick.totals.instructions, 60.0);
    for (ticks, alone) in [(0, 10), (2, 0)] {
        let refused = per_tick(window(&requests, alone), window(&timers, 6), ticks, SOURCE_ROOT);
        assert_eq!(refused, Err(WindowError::Ticks { ticks, requests: alone }));
    }
}

#[test]
fn what_one_seed_lacks_counts_as_nothing_there() {
    let only = |name: &str, cost: u64| one_request(&format!("events: Ir\nob=server\nfl=a.c\nfn={name}\n1 {cost}\n"));
    let mean = merge(&[only("f", 10), only("g", 6)]).expect("consistent");
    let functions: Vec<_> = mean.functions.iter().map(|f| (f.name.as_str(), f.instructions)).collect();
    assert_eq!(functions, [("f", 5.0), ("g", 3.0)]);
    assert_eq!(mean.totals.instructions, 8.0);
    assert!(merge(&[]).expect("nothing to be inconsistent").functions.is_empty());
}

#[test]
fn an_inconsistent_graph_is_refused() {
    let mut other_schema = fixture();
    other_schema.schema = "zerolap.callgraph/0".to_owned();
    assert!(matches!(merge(&[other_schema]), Err(GraphError::Schema { .. })));
    let mut no_callee = fixture();
    no_callee.edges[0].callee = 6;
    assert!(matches!(merge(&[no_callee]), Err(GraphError::Index { table: "function", index: 6, length: 6 })));
    let mut no_file = fixture();
    no_file.functions[2].lines[0].0 = 99;
    let json = no_file.to_json().expect("can be written");
    assert!(matches!(CallGraph::from_json(&json), Err(GraphError::Index { table: "file", index: 99, .. })));
    assert!(matches!(CallGraph::from_json(b"{}"), Err(GraphError::Json(_))));
}

/// Any dump: functions of a few names, files and objects, with costs and calls at random.
fn any_dump() -> impl Strategy<Value = String> {
    let symbol = prop::sample::select(vec!["f", "f.part.0", "f.cold", "g", "g'2", "h.isra.0", "h"]);
    let file = prop::sample::select(vec!["/build/redis/src/a.c", "/build/redis/src/a.h", "/usr/include/b.h", "???"]);
    let object = prop::sample::select(vec!["/x/server", "/lib/libc.so.6", "/lab/libzerolap_pin.so"]);
    let entry = (object, file.clone(), symbol.clone(), file, 1..50_u32, 0..1000_u64, 0..3_u64, symbol, 0..9_u64);
    prop::collection::vec(entry, 0..30).prop_map(|entries| {
        entries.iter().fold("events: Ir sysCount\n".to_owned(), |mut text, entry| {
            let (object, file, symbol, inlined, line, cost, syscalls, callee, calls) = entry;
            let _ = write!(
                text,
                "ob={object}\nfl={file}\nfn={symbol}\n{line} {cost}\nfi={inlined}\n+1 {cost} {syscalls}\n\
                 cfn={callee}\ncalls={calls} 1\n* {cost}\n"
            );
            text
        })
    })
}

proptest! {
    #[test]
    fn a_dump_does_not_differ_from_itself(text in any_dump()) {
        let graph = graph((&text, 1), (&text, 2));
        prop_assert!(graph.functions.is_empty() && graph.edges.is_empty() && graph.files.is_empty());
        prop_assert_eq!(graph.totals.instructions, 0.0);
    }

    #[test]
    fn the_mean_of_graphs_that_are_alike_is_each_of_them(
        small in any_dump(), large in any_dump(), requests in 2..50_u64, seeds in 1..8_usize
    ) {
        let graph = graph((&small, 1), (&large, requests));
        prop_assert_eq!(merge(&vec![graph.clone(); seeds]).expect("consistent"), graph);
    }

    #[test]
    fn functions_add_up_to_the_totals_without_the_pin_library(small in any_dump(), large in any_dump()) {
        let graph = graph((&small, 3), (&large, 10));
        let sum = |value: fn(&zerolap_profile::graph::Function) -> f64| graph.functions.iter().map(value).sum::<f64>();
        prop_assert!((sum(|function| function.instructions) - graph.totals.instructions).abs() < 1e-9);
        prop_assert!((sum(|function| function.syscalls) - graph.totals.syscalls).abs() < 1e-9);
        prop_assert!(graph.functions.iter().all(|function| !function.object.contains("pin")));
        let of_server = |text: &str| -> u64 {
            let dump = dump(text);
            let object = |function: u32| dump.name(dump.functions[function as usize].object);
            let kept = dump.own.iter().filter(|own| !object(own.function).contains("pin"));
            kept.map(|own| own.cost.instructions).sum()
        };
        let expected = (of_server(&large) as f64 - of_server(&small) as f64) / 7.0;
        prop_assert!((graph.totals.instructions - expected).abs() < 1e-6);
    }
}
