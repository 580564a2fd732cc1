use serde_json::json;

use super::*;

fn name(id: &str) -> RequestId<'_> {
    RequestId { principal: "a", id }
}

#[test]
fn a_repetition_gets_the_first_answer() {
    let mut requests = Requests::default();
    assert_eq!(requests.begin(name("r"), "1"), Ok(Earlier::Nothing));
    assert_eq!(requests.begin(name("r"), "1"), Ok(Earlier::Running));
    requests.finish(name("r"), json!("first"));
    requests.finish(name("r"), json!("second"));
    assert_eq!(requests.begin(name("r"), "1"), Ok(Earlier::Answered(json!("first"))));
    assert_eq!(requests.begin(name("r"), "2").unwrap_err().code, Code::RequestIdReused);
    let of_another = RequestId { principal: "b", id: "r" };
    assert_eq!(requests.begin(of_another, "2"), Ok(Earlier::Nothing));
}

#[test]
fn memory_is_bounded_and_what_runs_is_kept() {
    let mut requests = Requests::default();
    requests.begin(name("runs"), "1").unwrap();
    requests.begin(RequestId { principal: "b", id: "r" }, "1").unwrap();
    for i in 0..1000 {
        let id = format!("r{i}");
        requests.begin(name(&id), "1").unwrap();
        requests.finish(name(&id), json!(i));
    }
    assert_eq!(requests.requests.len(), KEPT_OF_ONE + 1);
    assert_eq!(requests.begin(name("runs"), "1"), Ok(Earlier::Running));
    assert_eq!(requests.begin(name("r999"), "1"), Ok(Earlier::Answered(json!(999))));
    assert_eq!(requests.begin(name("r900"), "1"), Ok(Earlier::Nothing));
    for i in 0..1000 {
        let principal = format!("p{i}");
        requests.begin(RequestId { principal: &principal, id: "r" }, "1").unwrap();
    }
    assert_eq!(requests.requests.len(), KEPT);
}
