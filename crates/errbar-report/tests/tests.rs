//! Figures and pages, checked from outside. One program, so that it is linked once.

mod figures; // ink where the data are
mod report; // the page as a caller sees it
