//! What values are: uniformity, constants.
