//! What the product was born from, in Rust: a proxy that builds an HTTP client for each request instead of keeping one. It is
//! measured beside the gateway, and nothing of the gateway can reach it.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;

const UPSTREAM: &str = "http://127.0.0.1:9000";

async fn forward(request: Request) -> Result<Response, StatusCode> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 8 << 20).await.map_err(|_| StatusCode::BAD_REQUEST)?;
    #[expect(clippy::disallowed_methods, reason = "this is what is measured")]
    let client = reqwest::Client::builder().no_proxy().build().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    let answer = client.request(head.method, format!("{UPSTREAM}{target}")).body(body).send().await;
    let answer = answer.map_err(|_| StatusCode::BAD_GATEWAY)?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = answer.status();
    let body = answer.bytes().await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    *response.body_mut() = Body::from(body);
    Ok(response)
}

fn main() -> std::io::Result<()> {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        return Err(std::io::Error::other("another TLS provider is there"));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:9100").await?;
        axum::serve(listener, Router::new().fallback(forward)).await
    })
}
