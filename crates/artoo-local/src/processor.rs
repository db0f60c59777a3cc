//! Checks that this processor has the features llama.cpp was compiled for, before any of its code runs: an unknown
//! instruction ends the process.

use crate::LocalError;

/// The processor features that llama.cpp may need: for each the value of its build option, whether this processor has
/// it, and its name.
#[cfg(target_arch = "x86_64")]
fn needs() -> [(Option<&'static str>, bool, &'static str); 6] {
    use std::arch::is_x86_feature_detected as has;
    [
        (option_env!("GGML_SSE42"), has!("sse4.2"), "SSE 4.2"),
        (option_env!("GGML_AVX"), has!("avx"), "AVX"),
        (option_env!("GGML_AVX2"), has!("avx2"), "AVX2"),
        (option_env!("GGML_BMI2"), has!("bmi2"), "BMI2"),
        (option_env!("GGML_F16C"), has!("f16c"), "F16C"),
        (option_env!("GGML_FMA"), has!("fma"), "FMA"),
    ]
}

/// Nothing to check: on other architectures llama.cpp is compiled for every processor of the architecture.
#[cfg(not(target_arch = "x86_64"))]
fn needs() -> [(Option<&'static str>, bool, &'static str); 0] {
    []
}

/// An error if this processor lacks a feature that llama.cpp was compiled for.
pub(crate) fn check() -> Result<(), LocalError> {
    first_missing(&needs()).map_or(Ok(()), |missing| Err(LocalError::Processor { missing }))
}

/// The name of the first feature in the list that is compiled in and that the processor lacks; `None` if it has all.
fn first_missing(needs: &[(Option<&'static str>, bool, &'static str)]) -> Option<&'static str> {
    needs.iter().find(|(option, is_there, _)| *option == Some("ON") && !is_there).map(|(.., name)| *name)
}

/// The processors that llama.cpp was compiled for, in words.
pub(crate) fn compiled_for() -> &'static str {
    match option_env!("GGML_AVX2") {
        Some("ON") if cfg!(target_arch = "x86_64") => "x86-64-v3 (AVX2)",
        _ if cfg!(target_arch = "x86_64") && !cfg!(target_feature = "avx2") => "any x86-64 (slow)",
        _ => std::env::consts::ARCH,
    }
}

/// Tests of finding missing processor features.
#[cfg(test)]
mod tests {
    use super::{check, first_missing};

    #[test]
    fn missing_processor_features_are_reported() {
        assert_eq!(first_missing(&[(Some("ON"), true, "AVX"), (Some("ON"), false, "AVX2")]), Some("AVX2"));
        assert_eq!(first_missing(&[(Some("ON"), true, "AVX"), (None, false, "AVX2")]), None);
        assert_eq!(first_missing(&[(Some("OFF"), false, "AVX")]), None);
        assert!(check().is_ok(), "the machine that runs the tests has what they were compiled for");
    }
}
