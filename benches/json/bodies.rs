//! What is measured: a customer record as an API would send it, and bodies made of it or of one kind of value.

/// About 1,000 bytes: 22 members, four of them ruled, and two personal values that no field rule names. What looks like a
/// live card or key is put together here, so that no scanner of sources takes it for one.
pub fn record() -> String {
    let card = ["4111", "1111", "1111", "1111"].concat();
    let ssn = ["123", "45", "6789"].join("-");
    let orders: Vec<String> =
        [(1001, "SKU-10A-BLUE", 1, "19.99"), (1002, "SKU-77C-OAK", 4, "249.00"), (1003, "SKU-3F", 2, "7.50")]
            .iter()
            .map(|(id, sku, quantity, price)| {
                format!(r#"{{"id":"ord-{id}","sku":"{sku}","quantity":{quantity},"price":{price},"status":"shipped"}}"#)
            })
            .collect();
    format!(
        r#"{{"id":70412,"created_at":"2024-03-18T09:41:07Z","updated_at":"2025-01-30T17:02:55Z","status":"active","segment":"retail","first_name":"Marianne","last_name":"O'Sullivan","email":"marianne.osullivan@example.net","ssn":"{ssn}","card":{{"brand":"visa","number":"{card}","expires":"2027-11"}},"address":{{"line1":"742 Evergreen Terrace","line2":null,"city":"Springfield","state":"IL","zip":"62704","country":"US"}},"language":"en-US","currency":"USD","balance":1530.75,"credit_limit":5000,"newsletter":true,"tags":["loyal","paper-invoice"],"orders":[{}],"loyalty_no":"LX-88-20931","source":"legacy-crm","referrer":null,"notes":"Prefers delivery in the afternoon. Asked for a copy of the invoice to be sent to m.osullivan@example.org as well, and for the \"fragile\" label on every parcel."}}"#,
        orders.join(",")
    )
}

/// An array of at least one, up to `size` bytes.
pub fn array(record: &str, size: usize) -> Vec<u8> {
    list(record, size)
}

/// Objects and arrays, 100 levels of them, over and over.
pub fn nested(size: usize) -> Vec<u8> {
    let tree = format!(r#"{}"leaf",true{}"#, r#"{"id":1,"child":["#.repeat(49), "]}".repeat(49));
    list(&tree, size)
}

/// Prose, with an address and a phone number in each string, now and then an escape and a letter that is not ASCII.
pub fn strings(size: usize, length: usize) -> Vec<u8> {
    let prose = r"The parcel was left with the neighbour on the second floor, who signed for it at 14:35.\nNothing was damaged; the Café next door has seen it as well. ";
    let mut text = prose.repeat(length / prose.len());
    text.push_str("Questions go to jane.doe@example.com or +1 415-555-0132.");
    list(&format!("\"{text}\""), size)
}

pub fn numbers(size: usize) -> Vec<u8> {
    list("0,17,-3,1024,3.14159,1.5e10,9007199254740993,-0.25,100,65535,2024,7.10", size)
}

/// Records in which all the weight lies below a member that no rule names.
pub fn unreachable(record: &str, size: usize) -> Vec<u8> {
    let attic = vec![record; 50].join(",");
    let slim = r#"{"id":1,"ssn":"none","card":{"number":"0"},"loyalty_no":"L","source":"s","attic":["#;
    list(&format!("{slim}{attic}]}}"), size)
}

fn list(item: &str, size: usize) -> Vec<u8> {
    format!("[{}]", vec![item; (size / (item.len() + 1)).max(1)].join(",")).into_bytes()
}
