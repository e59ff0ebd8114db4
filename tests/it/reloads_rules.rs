//! Rule files are edited while traffic flows: the next request follows the new rule, none fails, mistakes change nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::support::{Gateway, Upstream, client::Connection, get, response_rules, until};

const BODY: &str = r#"{"ssn":"123-45-6789","name":"Jane"}"#;
const MASKED: &str = r#"{"ssn":"***********","name":"Jane"}"#;
const REMOVED: &str = r#"{"name":"Jane"}"#;

fn mask(upstream: &Upstream) -> String {
    response_rules(upstream, "- {select: $.ssn, action: mask}")
}

fn remove(upstream: &Upstream) -> String {
    response_rules(upstream, "- {select: $.ssn, action: remove}")
}

#[test]
fn an_edit_is_live_and_the_record_names_its_generation() {
    let upstream = Upstream::json(BODY);
    let gateway = Gateway::start(&mask(&upstream));
    let before = get(gateway.address, "/");
    assert_eq!(before.text(), MASKED);
    assert_eq!(gateway.record_of(&before)["generation"], 1);
    gateway.write_rules(&remove(&upstream));
    until("the new rule is live", || get(gateway.address, "/").text() == REMOVED);
    let after = get(gateway.address, "/");
    assert_eq!(gateway.record_of(&after)["generation"], 2);
}

#[test]
fn a_broken_file_changes_nothing_and_is_shown_with_its_place() {
    let upstream = Upstream::json(BODY);
    let good = mask(&upstream);
    let gateway = Gateway::start(&good);
    let broken = [
        good.replace("action: mask", "action: maks"),
        good.replace("$.ssn", "$.ssn["),
        good.replace("version: 1", "version: 2"),
        good.replace("upstream: u", "upstream: v"),
        good.replace("select:", "selekt:"),
        format!("{good}\n\tbad: tab\n"),
        format!("{good}when: x\n"),
        good.replace("paths:", "paths: [}"),
        String::new(),
        "# only a comment\n".to_owned(),
    ];
    for (n, text) in broken.iter().enumerate() {
        gateway.write_rules(text);
        until("it is rejected", || get(gateway.admin, "/metrics").text().contains("fieldgate_rules_rejected 1"));
        let page = get(gateway.admin, "/rules").text();
        assert!(page.contains("main.yaml"), "broken file {n}");
        assert_eq!(get(gateway.address, "/").text(), MASKED, "broken file {n}");
        gateway.write_rules(&format!("{good}# mended {n}\n"));
        until("the mended file is live", || {
            get(gateway.admin, "/metrics").text().contains("fieldgate_rules_rejected 0")
        });
    }
    assert!(gateway.log().contains("main.yaml"), "the log says where: {}", gateway.log());
}

#[test]
fn edits_under_load_fail_no_request() {
    let upstream = Upstream::json(BODY);
    let gateway = Arc::new(Gateway::start(&mask(&upstream)));
    let (stop, served) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (gateway, stop, served) = (Arc::clone(&gateway), Arc::clone(&stop), Arc::clone(&served));
            std::thread::spawn(move || {
                let mut connection = Connection::open(gateway.address);
                while !stop.load(Ordering::Relaxed) {
                    let reply = connection.get("/").expect("answer");
                    assert_eq!(reply.status, 200);
                    assert!([MASKED, REMOVED].contains(&reply.text().as_str()), "{}", reply.text());
                    served.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for n in 0..30 {
        let text = format!("{}# {n}\n", if n % 2 == 0 { remove(&upstream) } else { mask(&upstream) });
        if n % 3 == 0 {
            std::fs::write(gateway.rules_path(), text).expect("write in place");
        } else {
            gateway.write_rules(&text);
        }
        let seen = served.load(Ordering::Relaxed);
        until("traffic goes on", || served.load(Ordering::Relaxed) > seen + 20);
    }
    gateway.write_rules(&remove(&upstream));
    until("the last edit is live", || get(gateway.address, "/").text() == REMOVED);
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().expect("client");
    }
}

#[test]
fn sighup_reads_the_rules_again_and_the_process_lives() {
    let upstream = Upstream::json(BODY);
    let gateway = Gateway::start(&mask(&upstream));
    gateway.write_rules(&remove(&upstream));
    gateway.signal("HUP");
    until("the new rule is live", || get(gateway.address, "/").text() == REMOVED);
}
