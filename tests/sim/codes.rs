//! Faults and findings of one kind have one code.

use ptxgen::ptx::lint::catalogue;
use ptxgen::ptx::sim::fault::codes;

#[test]
fn every_fault_is_in_the_catalogue_under_its_name() {
    for code in codes::ALL {
        let entry = catalogue().iter().find(|entry| entry.code.id == code.id);
        let entry = entry.unwrap_or_else(|| panic!("{} is not in the catalogue", code.id));
        assert_eq!(entry.code.name, code.name, "{}", code.id);
    }
}
