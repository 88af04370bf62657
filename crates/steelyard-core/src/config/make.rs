//! `resource!` and `words!`: a struct and its rows, an enum and its words, each from one list.

/// Makes a resource's struct, its defaults and its rows from one list. Of an attribute's documentation, the text is
/// also the row's help. What follows `plain` has no row; what follows `by` a field has a default that a method of that
/// field gives.
macro_rules! resource {
    (
        $(#[$meta:meta])*
        pub struct $resource:ident $object:literal {
            $(
                #[doc = $help:literal]
                $field:ident: $type:ty = $default:expr,
                $place:ident($cli:literal, $nitro:literal, $kind:expr) $(.$more:ident())*;
            )*
        }
        $(plain {
            $( $(#[$plain_meta:meta])* $plain:ident: $plain_type:ty = $plain_default:expr; )*
        })?
        $(by $type_field:ident {
            $( $typed:literal $typed_field:ident = $typed_default:ident; )*
        })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $resource {
            $( #[doc = $help] pub $field: $type, )*
            $($( $(#[$plain_meta])* pub $plain: $plain_type, )*)?
        }

        impl Default for $resource {
            fn default() -> $resource {
                $resource { $( $field: $default, )* $($( $plain: $plain_default, )*)? }
            }
        }

        impl $crate::config::attribute::Resource for $resource {
            const OBJECT: &'static str = $object;
            const ATTRIBUTES: &'static [$crate::config::attribute::Attribute<$resource>] = &[$(
                $crate::config::attribute::Attribute {
                    row: $crate::config::attribute::Row::new(
                        $crate::config::attribute::Place::$place, $cli, $nitro, $kind, $help.trim_ascii_start(),
                    )$(.$more())*,
                    store: |resource, value| {
                        $crate::config::field::Field::store(&mut resource.$field, value);
                    },
                    value: |resource| {
                        $crate::config::field::Field::value(&resource.$field, &$kind)
                    },
                    reset: |resource| resource.$field = $default,
                },
            )*];
            $(
                const BY_TYPE: &'static [&'static str] = &[$( $typed, )*];

                fn default_by_type(&mut self, nitro: &str) {
                    match nitro {
                        $( $typed => self.$typed_field = self.$type_field.$typed_default(), )*
                        _ => {}
                    }
                }
            )?
        }
    };
}
pub(crate) use resource;

/// Makes an enum from the words that the command line and NITRO use for its values.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal, )*
        }
        not carried [$( $other:literal ),* $(,)?]
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )*
            /// NetScaler knows it; this version keeps it and does not act on it.
            NotCarried(&'static str),
        }

        impl $name {
            /// Every value that is carried, in the order of its list.
            pub const ALL: &'static [$name] = &[$( $name::$variant, )*];
            /// The words, for a row.
            pub const WORDS: $crate::config::attribute::Words = $crate::config::attribute::Words {
                carried: &[$( $text, )*],
                aliases: &[],
                not_carried: &[$( $other, )*],
            };

            /// As the command line and NITRO write it.
            pub const fn text(self) -> &'static str {
                match self { $( $name::$variant => $text, )* $name::NotCarried(text) => text }
            }

            /// The value of that word, in whatever case.
            pub fn of(word: &str) -> Option<$name> {
                let carried = $name::ALL.iter().copied();
                let others = $name::WORDS.not_carried.iter().map(|text| $name::NotCarried(text));
                carried.chain(others).find(|value| value.text().eq_ignore_ascii_case(word))
            }

            /// Does this version act on it?
            pub const fn is_carried(self) -> bool {
                !matches!(self, $name::NotCarried(_))
            }
        }

        impl $crate::config::field::Field for $name {
            fn store(&mut self, value: &$crate::config::attribute::Value) {
                if let $crate::config::attribute::Value::Word(word) = value {
                    *self = $name::of(word).unwrap_or(*self);
                }
            }

            fn value(
                &self,
                _: &$crate::config::attribute::Kind,
            ) -> Option<$crate::config::attribute::Value> {
                Some($crate::config::attribute::Value::Word(self.text()))
            }
        }
    };
}
pub(crate) use words;
