//! Bytes that launches, runs and outcomes have in common until one of them writes.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Bytes; a clone of what nobody has written to costs nothing.
#[derive(Clone, Debug)]
pub struct Bytes(Held);

#[derive(Clone, Debug)]
enum Held {
    /// Others may have them, too.
    Common(Arc<Vec<u8>>),
    /// Nobody else has them.
    Own(Vec<u8>),
}

impl Bytes {
    /// Bytes that are about to be written.
    pub fn own(bytes: Vec<u8>) -> Self {
        Bytes(Held::Own(bytes))
    }

    /// Takes them out.
    pub fn into_vec(self) -> Vec<u8> {
        match self.0 {
            Held::Common(bytes) => Arc::unwrap_or_clone(bytes),
            Held::Own(bytes) => bytes,
        }
    }

    /// Makes clones cheap from here on, until somebody writes.
    pub fn into_common(self) -> Self {
        match self.0 {
            Held::Own(bytes) => Bytes::from(bytes),
            common @ Held::Common(_) => Bytes(common),
        }
    }

    #[cold]
    #[inline(never)]
    fn take_over(&mut self) {
        *self = Bytes::own(std::mem::take(self).into_vec());
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Bytes(Held::Own(Vec::new()))
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes(Held::Common(Arc::new(bytes)))
    }
}

impl FromIterator<u8> for Bytes {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        Bytes::from(Vec::from_iter(bytes))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Held::Common(bytes) => bytes,
            Held::Own(bytes) => bytes,
        }
    }
}

impl DerefMut for Bytes {
    /// Whoever writes has bytes of its own from then on.
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        if let Held::Common(_) = self.0 {
            self.take_over();
        }
        match &mut self.0 {
            Held::Own(bytes) => bytes,
            Held::Common(_) => &mut [],
        }
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Held::Common(one), Held::Common(two)) if Arc::ptr_eq(one, two) => true,
            _ => **self == **other,
        }
    }
}

impl Eq for Bytes {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_writes_has_its_own() {
        let first = Bytes::from(vec![1, 2, 3]);
        let mut second = first.clone();
        assert_eq!(first.as_ptr(), second.as_ptr(), "not copied yet");
        assert_eq!(first, second);
        second[1] = 9;
        assert_eq!((&first[..], &second[..]), (&[1, 2, 3][..], &[1, 9, 3][..]));
        assert_ne!(first, second);
        let at = second.as_ptr();
        second[0] = 8;
        assert_eq!(second.as_ptr(), at, "its own already");
        assert_eq!(second.into_vec(), [8, 9, 3]);
    }

    #[test]
    fn the_last_one_need_not_copy() {
        let mut only = Bytes::own(vec![7; 4]).into_common();
        let at = only.as_ptr();
        only[0] = 1;
        assert_eq!((only.as_ptr(), only.len()), (at, 4));
    }
}
