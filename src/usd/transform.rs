//! Transforms of prims: the operations of `xformOpOrder` (`UsdGeomXformable`).

use nalgebra::{Matrix4, Quaternion, Rotation3, UnitQuaternion, Vector3};

use crate::layer::Value;

/// Tolerance for the last row of a matrix, which must be (0, 0, 0, 1).
const AFFINE_TOLERANCE: f64 = 1e-6;

/// Map of a prim to its parent, for column vectors.
pub(crate) struct LocalTransform {
    pub(crate) matrix: Matrix4<f64>,
    /// True if the transforms of the parents do not apply.
    pub(crate) resets: bool,
}

/// Reads the transform of a prim, whose attributes `value` returns.
///
/// # Errors
/// The operation that is not known, or has a value of another type.
pub(crate) fn local_transform<'s, 'a: 's>(
    value: impl Fn(&str) -> Option<&'s Value<'a>>,
) -> Result<LocalTransform, String> {
    let mut local = LocalTransform { matrix: Matrix4::identity(), resets: false };
    let Some(Value::Texts(operations)) = value("xformOpOrder") else { return Ok(local) };
    for name in operations {
        if name == "!resetXformStack!" {
            local = LocalTransform { matrix: Matrix4::identity(), resets: true };
            continue;
        }
        let plain = name.strip_prefix("!invert!").unwrap_or(name);
        let kind = plain.strip_prefix("xformOp:").and_then(|rest| rest.split(':').next());
        // An operation without a value does nothing.
        let Some(value) = value(plain) else { continue };
        let matrix = kind.and_then(|kind| operation(kind, value));
        let matrix = match plain == name {
            true => matrix,
            false => matrix.and_then(|matrix| matrix.try_inverse()),
        };
        let is_affine = |matrix: &Matrix4<f64>| {
            (matrix.row(3) - Matrix4::identity().row(3)).amax() <= AFFINE_TOLERANCE
        };
        // The first operation is the outermost.
        local.matrix *= matrix.filter(is_affine).ok_or_else(|| name.clone())?;
    }
    Ok(local)
}

fn operation(kind: &str, value: &Value<'_>) -> Option<Matrix4<f64>> {
    let number = match value {
        Value::Number(number) => Some(*number),
        _ => None,
    };
    let tuple = match value {
        Value::Tuple(numbers) => &numbers[..],
        _ => &[],
    };
    let vector = <[f64; 3]>::try_from(tuple).ok();
    let on_axis = |axis: usize| Some(Vector3::ith(axis, number?));
    let turn = |axis: usize, degrees: f64| {
        Rotation3::new(Vector3::ith(axis, degrees.to_radians())).to_homogeneous()
    };
    let axis = |name: char| "XYZ".find(name);
    let scaled = |factors: Vector3<f64>| Matrix4::new_nonuniform_scaling(&factors);
    Some(match kind {
        "translate" => Matrix4::new_translation(&Vector3::from(vector?)),
        "scale" => scaled(vector?.into()),
        // Values of texts and of binary layers have rows for row vectors.
        "transform" => Matrix4::from_column_slice(<&[f64; 16]>::try_from(tuple).ok()?),
        "orient" => {
            let [x, y, z, w] = *<&[f64; 4]>::try_from(tuple).ok()?;
            UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 0.0)?.to_homogeneous()
        }
        _ => {
            let axes: Vec<usize> = kind
                .trim_start_matches(char::is_lowercase)
                .chars()
                .map(axis)
                .collect::<Option<_>>()?;
            match (kind.trim_end_matches(char::is_uppercase), &axes[..]) {
                ("translate", [axis]) => Matrix4::new_translation(&on_axis(*axis)?),
                ("scale", [axis]) => {
                    let mut factors = Vector3::repeat(1.0);
                    factors[*axis] = number?;
                    scaled(factors)
                }
                ("rotate", [axis]) => turn(*axis, number?),
                // The first of three angles turns first.
                ("rotate", [a, b, c]) => {
                    let angles = vector?;
                    turn(*c, angles[*c]) * turn(*b, angles[*b]) * turn(*a, angles[*a])
                }
                _ => return None,
            }
        }
    })
}
