//! Parameters as a table.

/// Declares parameters from a table, a row a parameter:
/// `field: type = default, "description", bounds, checks;`
///
/// Bounds and checks are calls of [`ParameterBuilder`](crate::ParameterBuilder): `range(0.0..=1.0)`, `read_only()`,
/// `validate("rule", check)`. A parameter whose name is not that of its field has it in brackets behind the field. Tables
/// in brackets behind the name of the struct are declared first.
///
/// ```no_run
/// karakuri_ros::parameters! {
///     /// Parameters of a hand.
///     pub struct HandParameters [robot: karakuri_ros::RobotParameters] {
///         pub force: f64 = 10.0, "Force of a finger. [N]", range(0.1..=1000.0);
///         method ["solver.method"]: String = "newton".to_owned(), "Contact solver.", read_only();
///     }
/// }
/// # fn new(node: &mut karakuri_ros::Node<()>) -> Result<(), karakuri_ros::RosError> {
/// let parameters = HandParameters::declare(node)?;
/// let force = parameters.force.get();
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! parameters {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $Table:ident $([$($inner_visible:vis $inner:ident: $Inner:ty),*])? {
            $($field_visible:vis $field:ident $([$name:literal])?: $type:ty = $default:expr,
                $description:literal $(, $call:ident($($argument:expr),*))*;)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $visible struct $Table {
            $($(#[doc = "A table within."] $inner_visible $inner: $Inner,)*)?
            $(#[doc = $description] $field_visible $field: $crate::Parameter<$type>,)*
        }

        impl $Table {
            /// Declares the parameters, in the order of the table, in a node or in the values of another one.
            ///
            /// # Errors
            /// When a given value does not fit its parameter, or a name is declared already.
            $visible fn declare<N: $crate::Declares>(
                node: &mut N,
            ) -> Result<Self, $crate::RosError> {
                Ok(Self {
                    $($($inner: <$Inner>::declare(node)?,)*)?
                    $($field: {
                        let default: $type = $default;
                        let name = $crate::parameters!(@name $field $($name)?);
                        $crate::Declares::parameter(node, name, default)
                            .describe($description)
                            $(.$call($($argument),*))*
                            .declare()?
                    },)*
                })
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
}
