//! What can be wrong with a figure: one variant per cause, each naming the place.

/// The result of drawing a figure.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a figure was not drawn. Values that cannot be shown (NaN, infinite, not positive on a
/// logarithmic axis) are no error: they are skipped.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Two columns of one layer have different lengths.
    #[error("{layer}: {what} has {length} values where {expected} are needed")]
    Length {
        /// The panel and layer, counted from 1, with the layer's label.
        layer: String,
        /// The column that does not fit.
        what: &'static str,
        /// Its length.
        length: usize,
        /// The length that the other columns ask for.
        expected: usize,
    },

    /// The coordinates of a grid or the edges of a histogram do not increase.
    #[error("{layer}: {what} must be finite and increase, but value {index} is {value}")]
    NotIncreasing {
        /// The panel and layer, counted from 1, with the layer's label.
        layer: String,
        /// The coordinates at fault.
        what: &'static str,
        /// The first offending value, counted from 0.
        index: usize,
        /// That value.
        value: f64,
    },

    /// The size of the figure cannot be drawn.
    #[error("a figure of {width} by {height} pixels cannot be drawn: give 50 to 20000 each way")]
    Size {
        /// The width asked for.
        width: f64,
        /// The height asked for.
        height: f64,
    },

    /// The scale of a PNG is not a positive number, or makes it too large.
    #[error(
        "scale {scale} makes {width} by {height} pixels: choose one that gives 1 to 20000 each way, and 100 million in all"
    )]
    Scale {
        /// The scale asked for.
        scale: f64,
        /// The width it gives.
        width: f64,
        /// The height it gives.
        height: f64,
    },

    /// A column of a report has another number of rows than its sigma.
    #[error("column \"{column}\" has {length} rows, but sigma has {expected}")]
    Rows {
        /// The column.
        column: String,
        /// Its length.
        length: usize,
        /// The number of sigmas.
        expected: usize,
    },

    /// A column of a report has a value that is not finite.
    #[error("column \"{column}\" is {value} at row {row}: leave such rows out")]
    NotFinite {
        /// The column.
        column: String,
        /// The row, counted from 0.
        row: usize,
        /// That value.
        value: f64,
    },

    /// A row of a report belongs to a group that there is not.
    #[error("column \"{column}\" names a group that is not among the labels")]
    UnknownGroup {
        /// The column that rows are grouped by.
        column: String,
    },

    /// Scores could not be computed.
    #[error(transparent)]
    Scores(#[from] errbar::Error),

    /// The PNG encoder failed.
    #[error("writing the PNG failed: {reason}")]
    Encode {
        /// What the encoder said.
        reason: String,
    },
}
