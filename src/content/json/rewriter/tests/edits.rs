//! What each edit makes of the bytes around it.

use super::{Act, check};
use crate::content::json::Fault;

fn removes(selector: &str, body: &str, expected: &str) {
    check(&[(&[selector], Act::Remove)], body, Ok(expected));
}

#[test]
fn a_removed_member_takes_one_comma_with_it() {
    removes("$.b", r#"{"a":1,"b":2,"c":3}"#, r#"{"a":1,"c":3}"#);
    removes("$.a", r#"{"a":1,"b":2}"#, r#"{"b":2}"#);
    removes("$.b", r#"{"a":1,"b":2}"#, r#"{"a":1}"#);
    removes("$.a", r#"{"a":1}"#, "{}");
    removes("$.*", r#"{"a":1,"b":[2],"c":{"d":"e"}}"#, "{}");
    removes("$['a','c']", r#"{"a":1,"b":2,"c":3}"#, r#"{"b":2}"#);
    removes("$['a','b']", r#"{"a":1,"b":2,"c":3}"#, r#"{"c":3}"#);
    removes("$['b','c']", r#"{"a":1,"b":{"x":[]},"c":3}"#, r#"{"a":1}"#);
}

#[test]
fn white_space_outside_of_the_cuts_stays() {
    removes("$.b", "{ \"a\" : 1 , \"b\" : 2 , \"c\" : 3 }", "{ \"a\" : 1  , \"c\" : 3 }");
    removes("$.a", "{ \"a\" : 1 , \"b\" : 2 }", "{ \"b\" : 2 }");
    removes("$.a", "{ \"a\" : 1 \n}", "{  \n}");
    removes("$['a','b']", "{ \"a\" : 1 , \"b\" : {} \n}", "{  \n}");
    removes("$[*]", "[ 1 , 2 , [ 3 ] ]", "[  ]");
    removes("$[0]", "[ 1 , 2 , [ 3 ] ]", "[ 2 , [ 3 ] ]");
    removes("$[2]", "[ 1 , 2 , [ 3 ] ]", "[ 1 , 2  ]");
}

#[test]
fn elements_go_like_members() {
    removes("$[0::2]", "[0,1,2,3,4]", "[1,3]");
    removes("$[1:3]", "[0,1,2,3,4]", "[0,3,4]");
    removes("$[*]", "[]", "[]");
    removes("$..x", r#"[{"x":1},{"y":{"x":[{"x":2}]}},{"x":{},"z":0}]"#, r#"[{},{"y":{}},{"z":0}]"#);
}

#[test]
fn a_removed_root_is_null() {
    removes("$", "1", "null");
    removes("$", " {\"a\":[1]} ", " null ");
    removes("$", "\"x\"", "null");
}

#[test]
fn a_replaced_value_leaves_everything_else() {
    let check = |selector: &str, body: &str, expected: &str| {
        check(&[(&[selector], Act::Replace(r#""X""#))], body, Ok(expected));
    };
    check("$.a", r#"{ "a" : [1, {"b":2}] , "b" : 1.10 }"#, r#"{ "a" : "X" , "b" : 1.10 }"#);
    check("$.a", r#"{"a":9007199254740993}"#, r#"{"a":"X"}"#);
    check("$", "[1]", r#""X""#);
    check("$[1]", "[1e400,null,true]", r#"[1e400,"X",true]"#);
    check("$.a.b", r#"{"a":{"b":"\u00e9","c":"\u00e9"}}"#, r#"{"a":{"b":"X","c":"\u00e9"}}"#);
}

#[test]
fn keys_are_compared_decoded() {
    removes("$.ssn", r#"{"\u0073sn":1,"ss\u006e2":2}"#, r#"{"ss\u006e2":2}"#);
    removes("$['a/b']", r#"{"a\/b":1}"#, "{}");
    removes("$['😀']", r#"{"\ud83d\ude00":1}"#, "{}");
}

#[test]
fn splices_change_their_own_bytes_only() {
    let check = |body: &str, expected: &str| check(&[(&["$.s"], Act::Splice("<\"\u{1}>"))], body, Ok(expected));
    check(r#"{"s":"\u00e9a\/\ud83d\ude00a","t":"a"}"#, r#"{"s":"\u00e9<\"\u0001>\/\ud83d\ude00<\"\u0001>","t":"a"}"#);
    check(r#"{"s":"\u0061"}"#, r#"{"s":"<\"\u0001>"}"#);
    check(r#"{"s":"xyz"}"#, r#"{"s":"xyz"}"#);
    check(r#"{"s":"éaé"}"#, r#"{"s":"é<\"\u0001>é"}"#);
}

#[test]
fn a_rename_is_about_the_key() {
    let check = |body: &str, expected: Result<&str, Fault>| {
        check(&[(&["$.phone", "$.p"], Act::Rename("t\"l")), (&["$.p"], Act::Remove)], body, expected);
    };
    check(r#"{"a":1,"phone" : 2}"#, Ok(r#"{"a":1,"t\"l" : 2}"#));
    check(r#"{"\u0070hone":{"phone":1}}"#, Ok(r#"{"t\"l":{"phone":1}}"#));
    check(r#"{"p":1}"#, Ok("{}"));
    let collision = |at| Err(Fault::Malformed { at, what: "a new key collides with another" });
    check(r#"{"phone":1,"t\"l":2}"#, collision(11));
    check(r#"{"t\"l":1,"phone":2}"#, collision(10));
    check(r#"{"phone":1,"p":2}"#, collision(11));
    check(r#"{"phone":1,"x":{"t\"l":2}}"#, Ok(r#"{"t\"l":1,"x":{"t\"l":2}}"#));
}

#[test]
fn set_replaces_or_appends() {
    let check = |selector: &str, body: &str, expected: &str| {
        check(&[(&[selector], Act::Set("g", "[1]"))], body, Ok(expected));
    };
    check("$.g", r#"{"g":2}"#, r#"{"g":[1]}"#);
    check("$.g", r#"{"a":2}"#, r#"{"a":2,"g":[1]}"#);
    check("$.g", "{ }", r#"{ "g":[1]}"#);
    check("$.g", "[]", "[]");
    check("$.a.g", r#"{"a":{},"b":{}}"#, r#"{"a":{"g":[1]},"b":{}}"#);
    check("$.a.g", r#"{"b":1}"#, r#"{"b":1}"#);
    check("$[1].g", "[{},{}]", r#"[{},{"g":[1]}]"#);
}

#[test]
fn set_after_everything_else_was_removed() {
    let list: &[(&[&str], Act)] = &[(&["$.a"], Act::Remove), (&["$.g"], Act::Set("g", "1"))];
    check(list, r#"{"a":1 }"#, Ok(r#"{ "g":1}"#));
    check(list, r#"{"a":1,"b":2}"#, Ok(r#"{"b":2,"g":1}"#));
}

#[test]
fn a_set_member_cannot_have_a_name_that_another_was_given() {
    let list: &[(&[&str], Act)] = &[(&["$.a"], Act::Rename("g")), (&["$.g"], Act::Set("g", "1"))];
    check(list, r#"{"a":1}"#, Err(Fault::Malformed { at: 6, what: "a new key collides with another" }));
    check(list, r#"{"b":1}"#, Ok(r#"{"b":1,"g":1}"#));
}

#[test]
fn keep_only_keeps_the_way_and_what_lies_below() {
    let check =
        |selectors: &[&str], body: &str, expected: &str| check(&[(selectors, Act::KeepOnly)], body, Ok(expected));
    check(&["$.id", "$.c[*].id"], r#"{"id":1,"x":2,"c":[{"id":3,"y":4},5],"z":{}}"#, r#"{"id":1,"c":[{"id":3}]}"#);
    check(&["$.a"], r#"{"b":1,"a":{"b":[1,2]}}"#, r#"{"a":{"b":[1,2]}}"#);
    check(&["$.a.b"], r#"{"a":1}"#, "{}");
    check(&["$.a[0]"], r#"{"a":{"b":1},"c":0}"#, "{}");
    check(&["$"], r#"{"a":1}"#, r#"{"a":1}"#);
    check(&["$.a"], "1", "null");
    check(&["$..id"], r#"{"x":{"id":{"y":1},"n":1}}"#, r#"{"x":{"id":{"y":1}}}"#);
}

#[test]
fn below_a_removed_container_only_stop_counts() {
    let list: &[(&[&str], Act)] = &[(&["$.a"], Act::Remove), (&["$..x"], Act::Replace("0")), (&["$..s"], Act::Stop)];
    check(list, r#"{"a":{"x":[1],"y":{}},"x":1}"#, Ok(r#"{"x":0}"#));
    check(list, r#"{"a":{"x":1,"y":[{"s":1}]}}"#, Err(Fault::Stopped));
}
