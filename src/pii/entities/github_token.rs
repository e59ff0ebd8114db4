//! GitHub tokens: personal (classic and fine-grained), OAuth, app, refresh.

use super::Entity;
use super::token::token;
use crate::pii::evidence::{Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "github_token",
    groups: &["secrets"],
    standard: "GitHub authentication token formats",
    check: "gh?_ and at least 36 letters and digits, or github_pat_ with 22 and 59 characters",
    keys: "github token, gh token, github pat, pat, personal access token",
    words: "",
    reader: Reader::Prefix { starts: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"], shortest: 40, read },
    examples: &[
        ("pat", "«ghp¦_A99Aaa9AaAAAa999aA9AaAaaAaAa9aaaaaaa»"),
        ("note", "export GITHUB_TOKEN=«gho¦_ZgW3aNYuyD8s5UlGiPDx2DE9uJt4CT8nwoWH»;"),
        ("url", "https://«ghs¦_vxhgk5QFaEXGHipIUDVlPb0IwGjoSzaHBIoA»@github.com/a/b"),
        ("token", "«github¦_pat_9qa1NAVNPcOwnYsLGQCuuI_pIeMz08xx8ldmV0FWBhuTd3m2rHeBaBNp0k5YS5k4UJ13SLosaRhwdol2eR»"),
    ],
    counter_examples: &[
        ("token", "ghp¦_short"),
        ("token", "xghp¦_A99Aaa9AaAAAa999aA9AaAaaAaAa9aaaaaaa"),
        ("token", "ghp¦_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
        ("token", "ghq¦_A99Aaa9AaAAAa999aA9AaAaaAaAa9aaaaaaa"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let is_fine_grained = text.get(start..)?.starts_with("github");
    if is_fine_grained {
        token(text, start, "github_pat_".len(), 82..=82, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
    } else {
        token(text, start, "ghp_".len(), 36..=251, |byte| byte.is_ascii_alphanumeric())
    }
}
