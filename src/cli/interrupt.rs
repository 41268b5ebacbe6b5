//! Ctrl-C: the first one asks long work to come to an end, the second one ends the program at once, as ever.

use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that is set from the first Ctrl-C on. Until somebody asks for it, Ctrl-C does what it always does.
pub fn flag() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    // In this order: what is asked for twice finds the flag set. Where signals cannot be caught, they act as ever.
    let registered = flag::register_conditional_default(SIGINT, Arc::clone(&asked))
        .and_then(|_| flag::register(SIGINT, Arc::clone(&asked)));
    drop(registered);
    asked
}
