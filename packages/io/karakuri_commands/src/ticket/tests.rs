use serde_json::json;

use super::*;
use crate::verb::Verb;
use crate::verb::arguments::Arguments;

const VALIDITY: Validity<'_> = Validity { envelope: "e1", approval: Approval::None, ttl_s: 60.0 };

fn rehearsed(principal: &str) -> Rehearsed {
    let arguments = Arguments::read(Verb::Home, &json!({})).unwrap();
    Rehearsed {
        number: 1,
        principal: principal.to_owned(),
        command: Command { arguments, object: None },
        world: "w1".to_owned(),
        build: "b1".to_owned(),
        seed: 1,
    }
}

fn present() -> Present {
    Present { world: "w1".to_owned(), build: "b1".to_owned(), is_near: false }
}

fn bits_of(i: u32) -> [u8; BYTES] {
    let mut bits = [0x5a; BYTES];
    bits[..4].copy_from_slice(&i.to_be_bytes());
    bits
}

fn code(tickets: &mut Tickets, principal: &str, ticket: &str, now: f64) -> Option<Code> {
    let claim = Claim { principal, ticket, envelope: "e1" };
    tickets.redeem(&claim, &present(), now).err().map(|refusal| refusal.code)
}

#[test]
fn a_ticket_is_its_bits_in_hexadecimal_digits() {
    let mut tickets = Tickets::default();
    let random: [u8; 16] = std::array::from_fn(|i| u8::try_from(i * 17).unwrap());
    let ticket = tickets.issue(rehearsed("a"), VALIDITY, random, 0.0).unwrap();
    assert_eq!(ticket, "00112233445566778899aabbccddeeff");
    assert_eq!(bits(&ticket), Some(random));
    assert_eq!(tickets.issue(rehearsed("b"), VALIDITY, random, 0.0), None);
    for text in ["", "0", &"g".repeat(32), &"0".repeat(33), &"A".repeat(32), &"é".repeat(16)] {
        assert_eq!(bits(text), None, "{text}");
    }
}

#[test]
fn the_first_objection_in_the_fixed_order_is_the_answer() {
    let mut tickets = Tickets::default();
    let ticket = tickets.issue(rehearsed("a"), VALIDITY, bits_of(1), 0.0).unwrap();
    let mut redeem = |principal, envelope, present: &Present, now| {
        let claim = Claim { principal, ticket: &ticket, envelope };
        tickets.redeem(&claim, present, now).map_err(|refusal| (refusal.code, refusal.value))
    };
    let moved = Present { world: "w2".to_owned(), ..present() };
    let rebuilt = Present { build: "b2".to_owned(), ..moved.clone() };
    let stale = |what: &str| Err((Code::StaleTicket, Some(json!(what))));
    assert_eq!(redeem("b", "e2", &rebuilt, 0.0), Err((Code::TicketUnknown, None)));
    assert_eq!(redeem("a", "e2", &rebuilt, 1.0), stale("envelope"));
    assert_eq!(redeem("a", "e1", &rebuilt, 1.0), stale("build"));
    assert_eq!(redeem("a", "e1", &moved, 1.0), stale("world"));
    // None of these used it.
    let near = Present { is_near: true, ..moved.clone() };
    assert!(redeem("a", "e1", &near, 59.9).unwrap().is_to_repeat);
    assert_eq!(redeem("a", "e2", &rebuilt, 100.0), Err((Code::TicketUsed, None)));
    assert_eq!(redeem("b", "e2", &rebuilt, 100.0), Err((Code::TicketUnknown, None)));
}

#[test]
fn a_ticket_ends_with_its_time() {
    for (now, expected) in [(59.9, None), (60.0, Some(Code::TicketExpired))] {
        let mut tickets = Tickets::default();
        let ticket = tickets.issue(rehearsed("a"), VALIDITY, bits_of(1), 0.0).unwrap();
        assert_eq!(code(&mut tickets, "a", &ticket, now), expected);
    }
}

#[test]
fn memory_is_bounded_and_one_principal_does_not_take_that_of_others() {
    let mut tickets = Tickets::default();
    let of_b = tickets.issue(rehearsed("b"), VALIDITY, bits_of(0), 0.0).unwrap();
    let of_a: Vec<String> = (1..=1000)
        .map(|i| tickets.issue(rehearsed("a"), VALIDITY, bits_of(i), 0.0).unwrap())
        .collect();
    assert_eq!(tickets.tickets.len(), KEPT_OF_ONE + 1);
    assert_eq!(code(&mut tickets, "b", &of_b, 0.0), None);
    assert_eq!(
        code(&mut tickets, "a", &of_a[1000 - KEPT_OF_ONE - 1], 0.0),
        Some(Code::TicketUnknown)
    );
    assert_eq!(code(&mut tickets, "a", &of_a[1000 - KEPT_OF_ONE], 0.0), None);
    for i in 0..1000 {
        tickets.issue(rehearsed(&format!("p{i}")), VALIDITY, bits_of(2000 + i), 0.0).unwrap();
    }
    assert_eq!(tickets.tickets.len(), KEPT);
}
