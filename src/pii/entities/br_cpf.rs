//! Brazilian taxpayer numbers of persons.

use super::Entity;
use crate::pii::checksum::{is_one_digit, weighted};
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::{Number, sep};

pub(super) const ENTITY: Entity = Entity {
    name: "br_cpf",
    groups: &["pii", "br"],
    standard: "Receita Federal, IN RFB 1548/2015",
    check: "two check digits, weights 10 to 2 and 11 to 2, mod 11, not one digit eleven times; context, or as it is printed",
    keys: "cpf, cpf cnpj, documento, numero do cpf, cpf number, cadastro de pessoas fisicas, cpf do cliente, \
            documento cliente",
    words: "",
    reader: Reader::Number(lengths(11, 11), judge),
    examples: &[
        ("cpf", "«529.982.247-25»"),
        ("note", "meu CPF é «52998224725»."),
        ("documento", "«111.444.777-35»"),
        ("value", "«529.982.247-25»"),
    ],
    counter_examples: &[
        ("cpf", "529.982.247-26"),
        ("note", "52998224725"),
        ("cpf", "111.111.111-11"),
        ("cpf", "529 98224725"),
        ("pedido", "52998224725"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let evidence = match (number.groups, number.separators) {
        // Nothing else is printed so.
        ([3, 3, 3, 2], separators) if separators == sep::DOT | sep::DASH => Evidence::Checked,
        ([11] | [3, 3, 3, 2] | [9, 2], _) => Evidence::Weak,
        _ => return None,
    };
    let first = weighted(number.digits, &[10, 9, 8, 7, 6, 5, 4, 3, 2]) * 10 % 11 % 10;
    let second = weighted(number.digits, &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) * 10 % 11 % 10;
    let is_valid = first == number.value(9, 10) && second == number.value(10, 11);
    (is_valid && !number.plus && !is_one_digit(number.digits)).then_some(evidence)
}
