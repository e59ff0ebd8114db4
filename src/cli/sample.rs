//! The demo's sample API: customers, with the personal data that such records hold. It stands in for the API that cannot be
//! changed. All of it is made up; card and account numbers are the published test numbers.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::Error;

struct Customer {
    name: &'static str,
    email: &'static str,
    phone: &'static str,
    ssn: &'static str,
    card: &'static str,
    notes: &'static str,
}

const CUSTOMERS: &[Customer] = &[
    Customer {
        name: "Jane Q. Doe",
        email: "jane.doe@example.com",
        phone: "+1 415-555-0132",
        ssn: "123-45-6789",
        card: "4111111111111111",
        notes: "Prefers e-mail: jane.alt@example.org. Last login from 203.0.113.7.",
    },
    Customer {
        name: "J\\u00fcrgen Muster",
        email: "juergen@example.de",
        phone: "+49 30 901820",
        ssn: "219-09-9999",
        card: "5555555555554444",
        notes: "Refund to DE89 3704 0044 0532 0130 00, then close the ticket.",
    },
    Customer {
        name: "Ana Silva",
        email: "ana.silva@example.pt",
        phone: "+351 21 123 4567",
        ssn: "078-05-1120",
        card: "378282246310005",
        notes: "No notes.",
    },
];

/// Starts the sample API on its own thread, on `address` or, if that is taken, on any free port.
pub(super) fn start(address: &str) -> Result<SocketAddr, Error> {
    let listener = std::net::TcpListener::bind(address).or_else(|_| std::net::TcpListener::bind("127.0.0.1:0"))?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("sample-api".to_owned()).spawn(move || {
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, app()).await
        });
        if let Err(error) = served {
            tracing::error!(%error, "the sample API has stopped");
        }
    })?;
    Ok(bound)
}

fn app() -> Router {
    Router::new()
        .route("/customers", get(list).post(create))
        .route("/customers/{id}", get(one).put(create))
        .fallback(|| async { (StatusCode::NOT_FOUND, json("{\"error\":\"no such thing\"}".to_owned())) })
}

async fn list() -> Response {
    let all: Vec<String> = CUSTOMERS.iter().enumerate().map(|(n, c)| c.record(n + 1)).collect();
    json(format!("{{\"customers\":[{}],\"total\":{}}}", all.join(","), all.len()))
}

async fn one(Path(id): Path<usize>) -> Response {
    match id.checked_sub(1).and_then(|n| CUSTOMERS.get(n)) {
        Some(customer) => json(customer.record(id)),
        None => (StatusCode::NOT_FOUND, json("{\"error\":\"no such customer\"}".to_owned())).into_response(),
    }
}

/// Answers with what it was given, so that one can see what arrives here.
async fn create(body: String) -> Response {
    let body = if body.is_empty() { "null".to_owned() } else { body };
    (StatusCode::CREATED, json(format!("{{\"received\":{body}}}"))).into_response()
}

fn json(body: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

impl Customer {
    /// White space, an escape, a big number, an empty list: what a gateway must not touch.
    fn record(&self, id: usize) -> String {
        let Self { name, email, phone, ssn, card, notes } = self;
        format!(
            "{{\"id\": {id}, \"name\": \"{name}\", \"email\": \"{email}\", \"phone\": \"{phone}\", \"ssn\": \"{ssn}\", \
             \"card\": {{\"number\": \"{card}\", \"expires\": \"12/29\"}}, \"ledger\": 9007199254740993, \
             \"balance\": 1.10, \"tags\": [], \"notes\": \"{notes}\"}}"
        )
    }
}
