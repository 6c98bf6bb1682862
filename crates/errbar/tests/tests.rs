//! What the library promises, as a caller sees it. One program, so that it is linked once.

mod accumulate; // parts of a sample, merged
mod accuracy_reliability; // the cost and its gradient
mod adapt; // error bars that follow what is observed
mod allocation; // the cost allocates nothing
mod bad_input; // errors that name the place and the value
mod bias; // the bias of a forecaster, learned and taken off
mod bootstrap; // intervals of scores
mod bounds; // observations that keep to bounds, other scales
mod calendar; // hour of day, day of week, season
mod calibration; // PIT, diagrams, coverage
mod categories; // inputs that are texts
mod crps; // CRPS and NLPD
mod decomposition; // the parts of CRPS
mod diagnose; // warnings about errors
mod elsewhere; // rows on other machines
mod ensemble; // forecasts by members
mod events; // probabilities of events
mod fit; // from a table to error bars
mod gaussian_process; // a mean of one's own
mod guarantee; // conformal intervals
mod importance; // what each input is worth
mod law; // laws beyond the Gaussian
mod layers; // the order of the library's rooms
mod many; // many rows, held in parts
mod math; // elementary functions
mod one_pass; // rows judged as they come
mod passing; // many rows, as they pass
mod prior; // a sigma that is there already, corrected
mod promise; // guaranteed intervals whose share is kept right
mod quantiles; // forecasts by quantiles and intervals
mod reliability; // the Reliability Score
mod score_vectors; // 60-digit values
mod shape; // the law of errors
mod shifted; // inputs that move
mod sigma; // models of sigma
mod sparse; // a Gaussian process of many rows
mod stack; // several models, averaged
mod support; // where there were hardly any rows
mod trees; // boosted trees
mod turning; // a skew that turns with the inputs
mod verdict; // good, overconfident, ...
mod walk; // walking forward
