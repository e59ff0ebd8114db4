use super::{Boundary, Fault, Parts, Piece};
use proptest::prelude::*;

/// The pieces, those of the same kind joined.
fn cut(chunks: &[&[u8]]) -> Result<Vec<(char, String)>, Fault> {
    let mut parts = Parts::new(&Boundary::of("m/m; boundary=b").unwrap());
    let (mut found, mut all): (Vec<(char, String)>, Vec<u8>) = (Vec::new(), Vec::new());
    let mut each = |piece: Piece<'_>| {
        let (kind, bytes) = match piece {
            Piece::Line(bytes) => ('L', bytes),
            Piece::Around(bytes) => ('A', bytes),
            Piece::Head(bytes) => ('H', bytes),
            Piece::Data(bytes) => ('D', bytes),
            Piece::End => ('E', &b""[..]),
        };
        all.extend_from_slice(bytes);
        let text = String::from_utf8_lossy(bytes);
        match found.last_mut() {
            Some((before, joined)) if *before == kind && kind != 'H' => joined.push_str(&text),
            _ if bytes.is_empty() && kind != 'E' => {}
            _ => found.push((kind, text.into_owned())),
        }
        Ok::<(), Fault>(())
    };
    for chunk in chunks {
        parts.push(chunk, &mut each)?;
    }
    parts.finish(&mut each)?;
    assert_eq!(all, chunks.concat());
    assert!(parts.held().is_empty());
    Ok(found)
}

#[track_caller]
fn check(body: &str, expected: &[(char, &str)]) {
    let found = cut(&[body.as_bytes()]).unwrap();
    let found: Vec<(char, &str)> = found.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
    assert_eq!(found, expected, "{body:?}");
}

#[track_caller]
fn malformed(body: &str, expected: &'static str) {
    let pieces: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
    for chunks in [vec![body.as_bytes()], pieces] {
        assert_eq!(cut(&chunks), Err(Fault::Malformed(expected)), "{body:?}");
    }
}

#[test]
fn parts_are_cut() {
    check("--b--", &[('L', "--b--")]);
    check("--b--\r\n", &[('L', "--b--\r\n")]);
    check(
        "--b\r\nA: b\r\n\r\none\r\n--b\r\n\r\n\r\n--b--\r\n",
        &[
            ('L', "--b\r\n"),
            ('H', "A: b\r\n\r\n"),
            ('D', "one"),
            ('E', ""),
            ('L', "\r\n--b\r\n"),
            ('H', "\r\n"),
            ('E', ""),
            ('L', "\r\n--b--\r\n"),
        ],
    );
    check(
        "before\r\n\r\n--b\r\n\r\n\r\n-\r\n--\r\n--c\r\n--b--\r\nafter\r\n",
        &[
            ('A', "before\r\n"),
            ('L', "\r\n--b\r\n"),
            ('H', "\r\n"),
            ('D', "\r\n-\r\n--\r\n--c"),
            ('E', ""),
            ('L', "\r\n--b--\r\n"),
            ('A', "after\r\n"),
        ],
    );
}

#[test]
fn what_lenient_readers_take_for_a_boundary_is_malformed() {
    let begins = "a multipart boundary that begins no line";
    malformed("--b\r\n\r\nx\n--b\r\n\r\ny\r\n--b--", begins);
    malformed("--b\r\n\r\nx\r--b\r\n\r\ny\r\n--b--", begins);
    malformed("--b\r\n\r\nx--b--\r\n--b--", begins);
    malformed("--b\r\n\r\n--b--", begins);
    malformed(" --b\r\n\r\n\r\n--b--", begins);
    malformed("\n--b\r\n\r\n\r\n--b--", begins);
    let ends = "a multipart boundary that ends no line";
    malformed("--b\n\n\r\n--b--", ends);
    malformed("--b \r\n\r\n\r\n--b--", ends);
    malformed("--bc\r\n\r\n\r\n--b--", ends);
    malformed("--b\r\n\r\nx\r\n--b-\r\n--b--", ends);
    malformed("--b\r\n\r\nx\r\n--b", ends);
    malformed("--b\r\n\r\nx\r\n--b--y", "something right behind the last boundary of multipart");
    malformed("--b\r\n\r\nx\r\n--b--\n", "something right behind the last boundary of multipart");
    malformed("--b\r\n\r\nx\r\n--b--\r\n\r\n--b\r\n\r\nz\r\n--b--", "a boundary behind the last one of multipart");
    malformed("--b\r\nA: --b\r\n\r\nx\r\n--b--", "a boundary in the head of a part");
    malformed("--b\r\n--b\r\n\r\nx\r\n--b--", "a boundary in the head of a part");
}

#[test]
fn what_does_not_end_is_malformed() {
    for body in ["", "x", "--b\r\n", "--b\r\nA: b\r\n", "--b\r\nA: b\n\nx\r\n--b--", "--b\r\n\r\nx", "--b\r\n\r\nx\r\n"]
    {
        malformed(body, "multipart without its last boundary");
    }
}

#[test]
fn heads_and_parts_have_bounds() {
    let head = |length: usize| format!("--b\r\nA: {}\r\n\r\n\r\n--b--", "x".repeat(length));
    assert!(cut(&[head(16_000).as_bytes()]).is_ok());
    let body = head(20_000);
    let chunks: Vec<&[u8]> = body.as_bytes().chunks(4096).collect();
    assert_eq!(cut(&chunks), Err(Fault::Oversize("the head of a part is larger than 16 KiB")));
    let parts = |count: usize| "--b\r\n\r\n\r\n".repeat(count) + "--b--";
    assert!(cut(&[parts(1000).as_bytes()]).is_ok());
    assert_eq!(cut(&[parts(1001).as_bytes()]), Err(Fault::Oversize("more than a thousand parts")));
}

proptest! {
    #[test]
    fn chunks_make_no_difference(
        words in prop::collection::vec("(\r\n|\r|\n|--b|--b\r\n|\r\n--b\r\n\r\n|--|-|x|A: b\r\n\r\n|b)", 0..24),
        ends in any::<bool>(),
        size in 1_usize..9,
    ) {
        let body = format!("--b\r\n\r\n{}{}", words.concat(), if ends { "\r\n--b--" } else { "" });
        let chunks: Vec<&[u8]> = body.as_bytes().chunks(size).collect();
        prop_assert_eq!(cut(&chunks), cut(&[body.as_bytes()]));
    }
}
