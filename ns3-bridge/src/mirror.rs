// SPDX-License-Identifier: GPL-2.0-only
//! Enumerations that C++ and the core share.

/// Converts between an enumeration of a bridge module and the core's, variant by variant: one that only the core has does
/// not compile.
macro_rules! mirror {
    ($bridge:ident = $core:ident { $($variant:ident),+ $(,)? }) => {
        impl From<$core> for $bridge {
            #[inline]
            fn from(core: $core) -> Self {
                match core {
                    $($core::$variant => $bridge::$variant,)+
                }
            }
        }

        impl From<$bridge> for $core {
            #[inline]
            fn from(bridge: $bridge) -> Self {
                match bridge {
                    $($bridge::$variant => $core::$variant,)+
                    _ => unreachable!("C++ has no other: the enumeration is generated"),
                }
            }
        }
    };
}
pub(crate) use mirror;
