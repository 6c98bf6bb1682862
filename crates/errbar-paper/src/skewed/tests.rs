use super::truth::Truth;
use super::*;
