//! What a search looks for.

use std::time::Duration;

use super::positive;
use zerolap_load_requests::{Percentile, Slo};

const EXPECTED: &str = "expected slo=, a percentile (p50, p90, p95, p99, p99.9, p99.99 or max), <, and a time in us, ms \
                        or s, such as slo=p99<1ms";

/// Such as `slo=p99<1ms`.
pub(crate) fn slo(text: &str) -> Result<Slo, String> {
    read(text).ok_or_else(|| EXPECTED.to_owned())
}

fn read(text: &str) -> Option<Slo> {
    let (name, limit) = text.strip_prefix("slo=")?.split_once('<')?;
    let percentile = Percentile::ALL.into_iter().find(|percentile| percentile.name() == name)?;
    // "us" and "ms" end with an "s", too.
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (number, seconds) = units.into_iter().find_map(|(unit, seconds)| Some((limit.strip_suffix(unit)?, seconds)))?;
    let limit = Duration::try_from_secs_f64(positive(number).ok()? * seconds).ok()?;
    (!limit.is_zero()).then_some(Slo { percentile, limit })
}

#[cfg(test)]
mod tests {
    use super::slo;

    #[test]
    fn what_is_read_is_shown_alike() {
        for (text, shown) in [
            ("slo=p99<1ms", "p99<1ms"),
            ("slo=p99.9<250us", "p99.9<250us"),
            ("slo=p50<1.5s", "p50<1.5s"),
            ("slo=max<1500us", "max<1.5ms"),
            ("slo=p99.99<0.3ms", "p99.99<300us"),
        ] {
            assert_eq!(slo(text).map(|slo| slo.to_string()), Ok(shown.to_owned()));
        }
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        let wrong =
            ["", "p99<1ms", "slo=p98<1ms", "slo=p99<1", "slo=p99<ms", "slo=p99<0ms", "slo=p99>1ms", "slo=p99<-1s"];
        let strange = ["slo=p99<1m", "slo=p99<nans", "slo=p99<1e300s", "slo=p99<1 ms", "slo=<1ms", "slo=p99<1e-30s"];
        for text in wrong.into_iter().chain(strange) {
            assert!(slo(text).is_err_and(|reason| reason.contains("slo=p99<1ms")), "{text:?}");
        }
    }
}
