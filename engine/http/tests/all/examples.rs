//! The examples of the rows, which the manual shows.

use temblor_declare::Notation;
use temblor_testing::{Folder, temblor};

#[test]
fn the_examples_of_all_connectors_are_right() {
    let folder = Folder::new();
    let mut count = 0;
    for connector in temblor_http::CONNECTORS {
        for example in connector.examples {
            let name = match connector.notation {
                Notation::Temblor => "example.tmb",
                Notation::Tremor => "example.troy",
            };
            let path = folder.write(name, example);
            let ran = temblor(["check".as_ref(), path.as_os_str()]).run();
            assert_eq!(ran.code, Some(0), "{}: {}{}", connector.kind, ran.out, ran.err);
            count += 1;
        }
    }
    assert!(count >= 9, "{count}");
}
