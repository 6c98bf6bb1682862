//! Derivatives in the parameters of a law.

use std::ops::{Add, Mul, Sub};

/// The derivative of a score or a probability in each parameter of a [`Law`](super::Law).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gradient {
    /// In the location.
    pub location: f64,
    /// In the scale of the left side.
    pub left: f64,
    /// In the scale of the right side.
    pub right: f64,
    /// In the degrees of freedom; 0 for a law without.
    pub shape: f64,
}

impl Gradient {
    /// From what is known by side: the scale of the own side of a value and that of the other.
    pub(super) fn of_sides(upper: bool, location: f64, own: f64, other: f64, shape: f64) -> Self {
        let (left, right) = if upper { (other, own) } else { (own, other) };
        Self { location, left, right, shape }
    }

    /// That of the law seen in a mirror.
    pub(super) fn mirrored(self) -> Self {
        Self { location: -self.location, left: self.right, right: self.left, shape: self.shape }
    }

    fn with(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            location: f(self.location, other.location),
            left: f(self.left, other.left),
            right: f(self.right, other.right),
            shape: f(self.shape, other.shape),
        }
    }
}

impl Add for Gradient {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }
}

impl Sub for Gradient {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }
}

/// Times a factor, as the chain rule wants it.
impl Mul<f64> for Gradient {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        self.with(self, |a, _| a * factor)
    }
}
