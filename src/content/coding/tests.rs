use super::{Codings, Decoder, Fault, STEP};
use proptest::prelude::*;
use std::io::Write;

const LABELS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

/// `body` with the codings of a `Content-Encoding` line put on.
fn encoded(label: &str, body: &[u8]) -> Vec<u8> {
    label.split(", ").fold(body.to_vec(), |body, coding| {
        let level = flate2::Compression::default();
        match coding {
            "gzip" => {
                let mut writer = flate2::write::GzEncoder::new(Vec::new(), level);
                writer.write_all(&body).unwrap();
                writer.finish().unwrap()
            }
            "deflate" => {
                let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), level);
                writer.write_all(&body).unwrap();
                writer.finish().unwrap()
            }
            "raw" => {
                let mut writer = flate2::write::DeflateEncoder::new(Vec::new(), level);
                writer.write_all(&body).unwrap();
                writer.finish().unwrap()
            }
            "br" => {
                let mut out = Vec::new();
                let params = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
                brotli::BrotliCompress(&mut body.as_slice(), &mut out, &params).unwrap();
                out
            }
            _ => zstd::encode_all(body.as_slice(), 3).unwrap(),
        }
    })
}

fn decoder(label: &str, most: u64) -> Decoder {
    Decoder::new(&Codings::of([label.replace("raw", "deflate").as_bytes()]).unwrap(), most)
}

/// Decodes what comes in `chunks`, and checks the bounds of every step.
fn decoded(label: &str, most: u64, chunks: &[&[u8]]) -> Result<Vec<u8>, Fault> {
    let mut decoder = decoder(label, most);
    let mut out = Vec::new();
    for chunk in chunks {
        let mut rest = *chunk;
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

#[track_caller]
fn check(label: &str, body: &[u8], expected: &[u8]) {
    let found = decoded(label, u64::MAX, &[body]);
    assert!(found.as_deref() == Ok(expected), "{label}: {:?}", found.map(|out| out.len()));
}

#[track_caller]
fn refused(label: &str, body: &[u8], expected: &'static str) {
    for size in [1, body.len().max(1)] {
        let chunks: Vec<&[u8]> = body.chunks(size).collect();
        assert_eq!(decoded(label, u64::MAX, &chunks), Err(Fault::Malformed(expected)), "{label}");
    }
}

/// Neither all alike nor random.
fn document(lines: usize) -> Vec<u8> {
    let line = |n: usize| format!("{{\"id\":{},\"name\":\"no {}\"}}\n", n * 7919 % 100_003, n % 13);
    (0..lines).map(line).collect::<String>().into_bytes()
}

#[test]
fn what_was_put_on_comes_off() {
    for body in [b"".to_vec(), b"{}".to_vec(), document(9), document(5_000), vec![0; STEP], vec![b'x'; 1 << 20]] {
        for label in ["gzip", "deflate", "raw", "br", "zstd", "gzip, gzip", "br, zstd, deflate", "zstd, br, gzip"] {
            check(label, &encoded(label, &body), &body);
        }
    }
}

#[test]
fn gzip_may_have_several_members_and_long_heads() {
    let (one, two) = (encoded("gzip", b"one"), encoded("gzip", b"two"));
    check("gzip", &[one.clone(), encoded("gzip", b""), two].concat(), b"onetwo");
    let mut writer = flate2::GzBuilder::new()
        .extra(vec![1, 2, 0])
        .filename("a")
        .comment("b")
        .mtime(7)
        .write(Vec::new(), flate2::Compression::fast());
    writer.write_all(b"body").unwrap();
    let mut body = writer.finish().unwrap();
    check("gzip", &body, b"body");
    // With a checksum of the head, which is 10 bytes, 2 and 3 of extra, 2 of name, 2 of comment.
    body[3] |= 2;
    let sum = crc32fast::hash(&body[..19]).to_le_bytes();
    body.splice(19..19, [sum[0], sum[1]]);
    check("gzip", &body, b"body");
    body[19] ^= 1;
    refused("gzip", &body, "gzip with a wrong checksum or length");
    let mut reserved = one;
    reserved[3] |= 0x20;
    refused("gzip", &reserved, "not the gzip that it is said to be");
}

#[test]
fn zstd_may_have_several_frames_and_skippable_ones() {
    let (one, two) = (encoded("zstd", b"one"), encoded("zstd", b"two"));
    let skippable = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    check("zstd", &[skippable.clone(), one, skippable, two].concat(), b"onetwo");
    let wide = |log| {
        let mut writer = zstd::Encoder::new(Vec::new(), 1).unwrap();
        writer.set_parameter(zstd::stream::raw::CParameter::WindowLog(log)).unwrap();
        writer.include_checksum(true).unwrap();
        writer.write_all(b"wide").unwrap();
        writer.finish().unwrap()
    };
    check("zstd", &wide(23), b"wide");
    let mut damaged = wide(23);
    *damaged.last_mut().unwrap() ^= 1;
    for body in [wide(24), damaged] {
        refused("zstd", &body, "not the zstd that it is said to be, or with a window of more than 8 MiB");
    }
}

#[test]
fn what_breaks_off_is_malformed() {
    for label in ["gzip", "deflate", "raw", "br", "zstd"] {
        let whole = encoded(label, &document(9));
        for end in 0..whole.len() {
            assert!(matches!(decoded(label, u64::MAX, &[&whole[..end]]), Err(Fault::Malformed(_))), "{label} {end}");
        }
    }
    refused("gzip", b"", "gzip that breaks off");
    refused("deflate", b"\x78", "deflate that breaks off");
    refused("br", b"", "brotli that breaks off");
    refused("zstd", b"", "zstd that breaks off");
}

#[test]
fn what_follows_the_end_is_malformed() {
    for (label, expected) in [
        ("gzip", "bytes behind the end of gzip"),
        ("deflate", "bytes behind the end of deflate"),
        ("raw", "bytes behind the end of deflate"),
        ("br", "bytes behind the end of brotli"),
        ("zstd", "not the zstd that it is said to be, or with a window of more than 8 MiB"),
    ] {
        for more in [&b"\0\0\0\0\0\0\0\0"[..], b"{\"card\":1}"] {
            refused(label, &[&encoded(label, b"{}"), more].concat(), expected);
        }
    }
}

#[test]
fn what_is_damaged_or_something_else_is_malformed() {
    for (label, expected) in [
        ("gzip", "not the gzip that it is said to be"),
        // Which could have gone on.
        ("deflate", "deflate that breaks off"),
        ("br", "not the brotli that it is said to be"),
        ("zstd", "not the zstd that it is said to be, or with a window of more than 8 MiB"),
    ] {
        refused(label, br#"{"a":"this is no such thing"}"#, expected);
    }
    for label in ["gzip", "deflate"] {
        let mut body = encoded(label, b"four score and seven");
        *body.last_mut().unwrap() ^= 1;
        assert!(matches!(decoded(label, u64::MAX, &[&body]), Err(Fault::Malformed(_))), "{label}");
    }
    // A dictionary that nobody has.
    refused("deflate", b"\x78\xbb\x00\x00\x00\x01\x03\x00", "not the deflate that it is said to be");
}

/// Feeds it until it says no more. Answers what it made.
fn bomb(label: &str, body: &[u8], most: u64) -> (u64, Fault) {
    let mut decoder = decoder(label, most);
    let (mut out, mut made, mut rest) = (Vec::new(), 0, body);
    loop {
        match decoder.step(&mut rest, &mut out) {
            Ok(more) => assert!(more, "it ended"),
            Err(fault) => return (made, fault),
        }
        made += out.len() as u64;
        assert!(out.capacity() <= 2 * STEP);
        out.clear();
    }
}

#[test]
fn a_bomb_is_oversize() {
    let most = 1 << 20;
    let zeros = vec![0; 8 << 20];
    for label in ["gzip", "deflate", "raw", "br", "zstd"] {
        let (made, fault) = bomb(label, &encoded(label, &zeros), most);
        assert_eq!(fault, Fault::Oversize, "{label}");
        assert!(made <= most, "{label}: {made}");
    }
    // It grows in the middle: what comes of it in the end is nothing.
    let nothing = [0, 0, 0, 0xff, 0xff].repeat(1 << 20);
    let (made, fault) = bomb("raw, gzip", &encoded("gzip", &nothing), most);
    assert_eq!((made, fault), (0, Fault::Oversize));
}

#[test]
fn honest_growth_has_no_end() {
    let body = document(10_000);
    for label in LABELS {
        assert_eq!(decoded(label, 1, &[&encoded(label, &body)]).map(|out| out.len()), Ok(body.len()), "{label}");
    }
}

#[test]
fn what_was_flushed_comes_out_at_once() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"data: 1\n\n").unwrap();
    gzip.flush().unwrap();
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zstd.write_all(b"data: 1\n\n").unwrap();
    zstd.flush().unwrap();
    let mut brotli = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
    brotli.write_all(b"data: 1\n\n").unwrap();
    brotli.flush().unwrap();
    for (label, body) in [("gzip", gzip.get_ref()), ("zstd", zstd.get_ref()), ("br", brotli.get_ref())] {
        let (mut decoder, mut out, mut rest) = (decoder(label, u64::MAX), Vec::new(), body.as_slice());
        while decoder.step(&mut rest, &mut out).unwrap() {}
        assert_eq!(out, b"data: 1\n\n", "{label}");
    }
}

proptest! {
    #[test]
    fn chunks_make_no_difference(
        lines in 0_usize..300,
        size in 1_usize..200,
        labels in prop::collection::vec(prop::sample::select(vec!["gzip", "deflate", "br", "zstd"]), 1..=3),
    ) {
        let (body, label) = (document(lines), labels.join(", "));
        let sent = encoded(&label, &body);
        let chunks: Vec<&[u8]> = sent.chunks(size).collect();
        prop_assert_eq!(decoded(&label, u64::MAX, &chunks), Ok(body));
    }

    #[test]
    fn a_wrong_byte_never_panics_or_hangs(
        at in any::<prop::sample::Index>(),
        with in any::<u8>(),
        size in 1_usize..99,
        label in prop::sample::select(vec!["gzip", "deflate", "raw", "br", "zstd", "br, gzip"]),
    ) {
        let body = document(40);
        let mut sent = encoded(label, &body);
        let at = at.index(sent.len());
        let is_damaged = std::mem::replace(&mut sent[at], with) != with;
        let chunks: Vec<&[u8]> = sent.chunks(size).collect();
        let (found, at_once) = (decoded(label, 1 << 20, &chunks), decoded(label, 1 << 20, &[&sent]));
        prop_assert_eq!(found.is_ok(), at_once.is_ok());
        // What has a checksum of its data shows every change but those of its head.
        if is_damaged && at >= 10 && label == "gzip" {
            prop_assert!(found.is_err());
        }
    }

    #[test]
    fn random_bytes_never_panic_or_hang(
        body in prop::collection::vec(any::<u8>(), 0..300),
        label in prop::sample::select(vec!["gzip", "deflate", "br", "zstd", "zstd, gzip"]),
    ) {
        if let Ok(out) = decoded(label, 1 << 20, &[&body]) {
            prop_assert!(out.len() <= 1 << 20 || out.len() <= body.len() * 101);
        }
    }
}
