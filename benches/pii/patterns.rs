//! What somebody would write who had only regular expressions: a pattern for each entity that has a shape. They know no
//! check digits and no context, and a set says only which of them are somewhere in the text, not where.

use regex::bytes::RegexSet;

/// The patterns as one set.
pub fn set() -> RegexSet {
    regex::bytes::RegexSetBuilder::new(PATTERNS)
        .unicode(false)
        .size_limit(1 << 26)
        .dfa_size_limit(1 << 26)
        .build()
        .unwrap()
}

const PATTERNS: &[&str] = &[
    // email
    r"[A-Za-z0-9._%+'-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
    // credit_card
    r"\b[3-6]\d{3}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,7}\b",
    r"\b3[47]\d{2}[ -]?\d{6}[ -]?\d{5}\b",
    // iban
    r"\b[A-Za-z]{2}\d{2}([ -]?[A-Za-z0-9]{4}){2,7}([ -]?[A-Za-z0-9]{1,4})?\b",
    // us_ssn, us_itin
    r"\b\d{3}[- ]?\d{2}[- ]?\d{4}\b",
    // phone
    r"\+\d{1,3}[ .-]?(\(\d{1,4}\)[ .-]?)?\d{1,4}([ .-]?\d{2,4}){1,4}\b",
    r"\(?\b[2-9]\d{2}\)?[ .-]?[2-9]\d{2}[ .-]?\d{4}\b",
    r"\b0\d{1,4}[ /.-]?\d{3,8}\b",
    // ipv4, ipv6
    r"\b(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}\b",
    r"\b([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b",
    r"([0-9A-Fa-f]{1,4}:){1,6}(:[0-9A-Fa-f]{1,4}){1,6}\b",
    // mac
    r"\b([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b",
    r"\b([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}\b",
    // jwt, aws_access_key_id, github_token, stripe_key, slack_token, google_api_key, llm_api_key, private_key
    r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
    r"\b(AKIA|ASIA)[A-Z2-7]{16}\b",
    r"\b(gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60,})",
    r"\b([sr]k_(live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    r"\bxox[abprs]-[A-Za-z0-9-]{20,}",
    r"\bAIza[\w-]{35}",
    r"\b(sk-|gsk_|xai-|hf_|r8_|pplx-)[\w-]{30,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    // url_credentials
    r"[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@",
    // btc_address, eth_address
    r"\b([13][1-9A-HJ-NP-Za-km-z]{25,34}|bc1[02-9ac-hj-np-z]{11,71})\b",
    r"\b0x[0-9A-Fa-f]{40}\b",
    // Numbers of eight to fifteen digits by country.
    r"\b\d{3}[ -]?\d{3}[ -]?\d{4}\b",
    r"\b\d{3}[ -]?\d{3}[ -]?\d{3}\b",
    r"\b\d{2}[ ]?\d{3}[ ]?\d{3}[ ]?\d{3}\b",
    r"\b\d{4}[ -]?\d{4}[ -]?\d{4}\b",
    r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b",
    r"\b\d{11}\b",
    r"\b\d{6}-\d{7}\b",
    r"\b(\d{2})?\d{6}[-+]\d{4}\b",
    r"\b[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}\b",
    // Codes of letters and digits by country.
    r"\b[1-9][A-Za-z][A-Za-z0-9]\d-?[A-Za-z][A-Za-z0-9]\d-?[A-Za-z]{2}\d{2}\b",
    r"\b[A-Za-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-Da-d]\b",
    r"\b[A-Za-z]{5}\d{4}[A-Za-z]\b",
    r"\b\d{2}\.?\d{3}\.?\d{3}[ -]?[A-Za-z]\b",
    r"\b[XYZxyz]-?\d{7}-?[A-Za-z]\b",
    r"\b[A-Za-z]{6}\d{2}[A-Za-z]\d{2}[A-Za-z]\d{3}[A-Za-z]\b",
    r"\b\d{6}[-+A-Fa-f]\d{3}[0-9A-Ya-y]\b",
    r"\b[STFGMstfgm]\d{7}[A-Za-z]\b",
    r"\b[A-Za-z9]{5}\d{6}[A-Za-z9]{2}\w[A-Za-z]{2}\b",
    r"\b(DE|de) ?\d{9}\b",
    r"\b\d{2} ?\d{6} ?[A-Za-z] ?\d{3}\b",
    r"\b[CFGHJKLMNPRTVWXYZ0-9]{9,10}\b",
    r"\b[A-Za-z]\d{8}\b",
    r"\b[A-Za-z]{1,2}\d{3,14}\b",
    // date_of_birth
    r"\b(19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}\b",
    r"\b\d{1,2}[-/.]\d{1,2}[-/.](19|20)?\d{2}\b",
    r"\b\d{1,2}\.? [A-Za-z]{3,9} (19|20)\d{2}\b",
];
