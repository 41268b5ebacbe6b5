//! Kernels that ptxgen emits.
