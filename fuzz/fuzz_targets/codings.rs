//! Bodies with content codings, whole and in pieces: the same bytes or a fault both times, in bounded steps.
#![no_main]

use fieldgate::content::coding::{Codings, Decoder, Fault, STEP};
use libfuzzer_sys::fuzz_target;

const LABELS: [&[u8]; 6] = [b"gzip", b"deflate", b"br", b"zstd", b"gzip, deflate", b"zstd, br, gzip"];
const MOST: u64 = 1 << 20;

fn decoded<'a>(label: &[u8], chunks: impl Iterator<Item = &'a [u8]>) -> Result<Vec<u8>, Fault> {
    let mut decoder = Decoder::new(&Codings::of([label]).unwrap(), MOST);
    let mut out = Vec::new();
    for chunk in chunks {
        let mut rest = chunk;
        loop {
            let before = out.len();
            let more = decoder.step(&mut rest, &mut out)?;
            assert!(out.len() - before <= STEP);
            if !more {
                break;
            }
        }
        assert!(rest.is_empty());
    }
    decoder.finish()?;
    Ok(out)
}

fuzz_target!(|data: &[u8]| {
    let Some(([size, which], body)) = data.split_first_chunk() else { return };
    let label = LABELS[usize::from(*which) % LABELS.len()];
    let whole = decoded(label, std::iter::once(body));
    let pieces = decoded(label, body.chunks(usize::from(*size) + 1));
    match (&whole, &pieces) {
        (Ok(whole), Ok(pieces)) => assert_eq!(whole, pieces),
        (whole, pieces) => assert_eq!(whole.is_err(), pieces.is_err()),
    }
});
