//! Shared helpers of the cross-room tests.
