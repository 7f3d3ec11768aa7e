// SPDX-License-Identifier: MIT OR Apache-2.0
//! Enumerations whose values users name.

/// A closed set of choices with names.
pub trait Named: Copy + PartialEq + 'static {
    /// All choices, in the order of their declaration.
    const ALL: &'static [Self];
    /// Their names, in the same order.
    const NAMES: &'static [&'static str];

    /// The name in configurations.
    fn name(self) -> &'static str;

    /// The choice of that name.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.name() == name)
    }
}

/// Declares an enumeration of choices with names: one entry reads `/// Doc.` `Choice = "name",`.
/// `named!(field NAME)` makes an enumeration that implements [`Named`] itself a type of settings.
#[macro_export]
macro_rules! named {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$choice_meta:meta])* $choice:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[$choice_meta])* $choice,)+
        }

        impl $crate::settings::Named for $name {
            const ALL: &'static [Self] = &[$($name::$choice),+];
            const NAMES: &'static [&'static str] = &[$($text),+];

            fn name(self) -> &'static str {
                match self {
                    $($name::$choice => $text,)+
                }
            }
        }

        $crate::named!(field $name);
    };
    (field $name:ident) => {
        impl $crate::settings::Field for $name {
            type Bound = ();

            fn kind(_: Option<$crate::settings::Range>) -> $crate::settings::Kind {
                $crate::settings::__private::choices::<Self>()
            }

            fn value(&self) -> $crate::settings::Value {
                $crate::settings::Value::Word($crate::settings::Named::name(*self).into())
            }

            fn read(
                input: $crate::settings::Input<'_>,
                _: Option<$crate::settings::Range>,
            ) -> Result<Self, $crate::settings::__private::String> {
                $crate::settings::__private::choice(input)
            }
        }
    };
}
