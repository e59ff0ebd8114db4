//! Detectors of the operator's own work like those that are built in: in bodies, records and figures, and they follow the files.

use serde_json::json;

use crate::support::{Gateway, Upstream, get, response_rules, until};

const BODY: &str = r#"{"badge":"EMP-104233","note":"ask EMP-104234 or TEMP-104233","EMP-104235":1,"n":104236}"#;

fn rules(upstream: &Upstream, pattern: &str) -> String {
    let rules = response_rules(upstream, "- {detect: employee_id, action: redact}");
    format!(
        "{rules}\ndetectors:\n  employee_id: {{pattern: '{pattern}', examples: [EMP-104233], counter_examples: [TEMP-104233]}}\n"
    )
}

#[test]
fn a_pattern_protects_bodies_and_what_is_recorded() {
    let upstream = Upstream::json(BODY);
    let gateway = Gateway::start(&rules(&upstream, r"EMP-\d{6}"));
    let reply = get(gateway.address, "/employees/EMP-104233");
    let name = "[REDACTED:employee_id]";
    assert_eq!(
        reply.text(),
        format!(r#"{{"badge":"{name}","note":"ask {name} or TEMP-104233","{name}":1,"n":104236}}"#)
    );
    let record = gateway.record_of(&reply);
    assert_eq!(record["path"], "/employees/[employee_id]");
    assert!(!record.to_string().contains("EMP-"), "{record}");
    let finding = &record["findings"][0];
    assert_eq!((&finding["entity"], &finding["place"]), (&json!("employee_id"), &json!("$.badge")));
    assert_eq!(record["findings"][2]["place"], "$.[employee_id]");
    assert!(get(gateway.admin, "/metrics").text().contains(r#"entity="employee_id""#));
}

#[test]
fn an_edited_pattern_is_live_and_a_wrong_one_changes_nothing() {
    let upstream = Upstream::json(BODY);
    let gateway = Gateway::start(&rules(&upstream, r"EMP-\d{6}"));
    gateway.write_rules(&rules(&upstream, r"EMP-\d{1,9"));
    until("it is rejected", || get(gateway.admin, "/metrics").text().contains("fieldgate_rules_rejected 1"));
    assert!(get(gateway.address, "/").text().contains(r#""n":104236"#));
    assert!(!get(gateway.address, "/").text().contains(":\"EMP-104233"));
    let wider = rules(&upstream, r"(?:EMP-)?\d{6}").replace(", counter_examples: [TEMP-104233]", "");
    gateway.write_rules(&wider);
    until("the new pattern is live", || get(gateway.address, "/").text().contains(r#""n":0"#));
}
