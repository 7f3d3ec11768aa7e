// SPDX-License-Identifier: MIT OR Apache-2.0
//! The macro that declares settings.

/// Declares a structure of settings.
///
/// An entry reads `/// Help.` `#[change = "When to change it."]` `pub NAME: TYPE {RANGE} = DEFAULT => OTHER = "VALUE" |
/// "VALUE";`. Without a range the whole type is accepted. `=> OTHER = ...` says that the setting counts only while
/// another one has one of the values. Without a word on when to change it an entry does not compile:
///
/// ```compile_fail
/// hpcc_core::settings! {
///     /// How a link is used.
///     pub struct LinkSettings {
///         /// Target utilisation.
///         pub eta: f64 = 0.95;
///     }
/// }
/// ```
///
/// `#[network]` before `pub` says that the setting is of the network: all nodes share it. Others are of what has the structure, a host
/// or a switch.
///
/// `#[assumed = "REASON"]`, there too, says that the default decides results: where nobody gives the setting, a run tells what it took,
/// and why.
///
/// `Option<TYPE>` is a setting that may be left to the simulator (`auto`). Settings of another structure are included by
/// `..NAME: TYPE = DEFAULT;` at the end.
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[doc = $help:literal])+
                #[change = $change:expr]
                $(#[$scope:ident $(= $word:literal)?])*
                pub $field:ident: $type:ty $({ $range:expr })? = $default:expr
                $(=> $other:ident = $($value:literal)|+)?;
            )*
            $(..$nested:ident: $nested_type:ty = $nested_default:expr;)*
        }
    ) => {
        $(#[$meta])*
        $visibility struct $name {
            $(
                $(#[doc = $help])+
                pub $field: $type,
            )*
            $(
                #[doc = concat!("What [`", stringify!($nested_type), "`] holds.")]
                pub $nested: $nested_type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name {
                    $($field: $default,)*
                    $($nested: $nested_default,)*
                }
            }
        }

        impl $crate::settings::Settings for $name {
            fn list(&self) -> $crate::settings::__private::Vec<$crate::settings::Setting> {
                let default = $name::default();
                #[allow(unused_mut, reason = "not all structures include others")]
                let mut list = $crate::settings::__private::vec![$(
                    $crate::settings::Setting {
                        key: stringify!($field),
                        kind: <$type as $crate::settings::Field>::kind($crate::settings!(@range $type $({ $range })?)),
                        auto: <$type as $crate::settings::Field>::AUTO,
                        default: $crate::settings::Field::value(&default.$field),
                        condition: $crate::settings!(@condition $($other $($value)+)?),
                        of_network: $crate::settings!(@of_network $($scope)*),
                        assumed: $crate::settings!(@assumed $($scope $(= $word)?)*),
                        help: {
                            const CHANGE: &str = $change;
                            const { assert!(!CHANGE.is_empty(), "expected a word on when to change it") };
                            $crate::settings::__private::sentence(&[$($help,)+ CHANGE])
                        },
                    },
                )*];
                $(list.extend($crate::settings::__private::included(&default.$nested));)*
                list
            }

            fn get(&self, key: &str) -> Option<$crate::settings::Value> {
                match key {
                    $(stringify!($field) => Some($crate::settings::Field::value(&self.$field)),)*
                    _ => None$(.or_else(|| $crate::settings::Settings::get(&self.$nested, key)))*,
                }
            }

            fn set(
                &mut self,
                key: &str,
                input: $crate::settings::Input<'_>,
            ) -> Result<(), $crate::settings::SettingError> {
                match key {
                    $(stringify!($field) => {
                        let range = $crate::settings!(@range $type $({ $range })?);
                        self.$field = <$type as $crate::settings::Field>::read(input, range)
                            .map_err($crate::settings::SettingError::Value)?;
                        Ok(())
                    })*
                    _ => {
                        $(match $crate::settings::Settings::set(&mut self.$nested, key, input) {
                            Err($crate::settings::SettingError::Unknown) => {}
                            known => return known,
                        })*
                        Err($crate::settings::SettingError::Unknown)
                    }
                }
            }

            #[allow(unused_variables, reason = "not all structures have settings of the network")]
            fn share(&mut self, network: &Self) {
                $($crate::settings!(@share self network $field $($scope)*);)*
                $($crate::settings::Settings::share(&mut self.$nested, &network.$nested);)*
            }
        }
    };
    (@of_network) => { false };
    (@of_network network $($scope:ident)*) => { true };
    (@of_network assumed $($scope:ident)*) => { $crate::settings!(@of_network $($scope)*) };
    (@assumed) => { None };
    (@assumed network $($rest:tt)*) => { $crate::settings!(@assumed $($rest)*) };
    (@assumed assumed = $word:literal $($rest:tt)*) => { Some($word) };
    (@share $own:ident $network:ident $field:ident) => {};
    (@share $own:ident $network:ident $field:ident network $($scope:ident)*) => { $own.$field.clone_from(&$network.$field) };
    (@share $own:ident $network:ident $field:ident assumed $($scope:ident)*) => {
        $crate::settings!(@share $own $network $field $($scope)*)
    };
    (@range $type:ty) => { None };
    (@range $type:ty { $range:expr }) => { Some(<$type as $crate::settings::Field>::range($range)) };
    (@condition) => { None };
    (@condition $other:ident $($value:literal)+) => {
        Some($crate::settings::Condition { key: stringify!($other), values: &[$($value),+] })
    };
}
