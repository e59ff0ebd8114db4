//! The check-digit schemes that several entities share, over ASCII digits that somebody else has cut out. Each says who
//! defines it; which number uses which is known in `entities/`. It promises to read no further than the digits that it is
//! given.

/// ISO/IEC 7812-1, annex B ("Luhn", mod 10): cards, IMEI, US NPI, Canadian SIN, Swedish, South African, Israeli numbers.
pub(super) fn luhn(digits: &[u8]) -> bool {
    luhn_sum(digits).is_multiple_of(10)
}

/// The sum that [`luhn`] wants to be a multiple of ten: every second digit from the right doubled, digits of the product
/// added.
pub(super) fn luhn_sum(digits: &[u8]) -> u32 {
    let doubled = |(place, digit): (usize, &u8)| {
        let value = u32::from(digit - b'0') << (place & 1);
        if value > 9 { value - 9 } else { value }
    };
    digits.iter().rev().enumerate().map(doubled).sum()
}

/// The sum of digits times weights; what it is divided by is the scheme's own (mod 10, 11, 89, 97).
pub(super) fn weighted(digits: &[u8], weights: &[u8]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| u32::from(digit - b'0') * u32::from(*weight)).sum()
}

/// ISO/IEC 7064 MOD 11,10, the pure system for digits: German tax numbers, Croatian OIB.
pub(super) fn mod_11_10(digits: &[u8]) -> bool {
    let Some((check, payload)) = digits.split_last() else { return false };
    let product = payload.iter().fold(10, |product, digit| {
        let sum = (product + u32::from(digit - b'0')) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == u32::from(check - b'0')
}

/// The remainder of a number of any length.
pub(super) fn remainder(digits: &[u8], modulus: u64) -> u64 {
    digits.iter().fold(0, |rest, digit| (rest * 10 + u64::from(digit - b'0')) % modulus)
}

/// Verhoeff's scheme (J. Verhoeff, "Error detecting decimal codes", 1969) over the dihedral group D5: Aadhaar.
pub(super) fn verhoeff(digits: &[u8]) -> bool {
    /// The permutation `1576283094`, applied once for each place.
    const PERMUTATION: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let permuted = |digit: u8, place: usize| {
        (0..place % 8).fold(digit, |digit, _| PERMUTATION.get(usize::from(digit)).copied().unwrap_or_default())
    };
    digits.iter().rev().enumerate().fold(0, |check, (place, digit)| multiply(check, permuted(digit - b'0', place))) == 0
}

/// The product in D5: numbers from 5 on are reflections.
const fn multiply(one: u8, other: u8) -> u8 {
    match (one < 5, other < 5) {
        (true, true) => (one + other) % 5,
        (true, false) => (one + other - 5) % 5 + 5,
        (false, true) => (one - 5 + 5 - other) % 5 + 5,
        (false, false) => (one + 5 - other) % 5,
    }
}

/// Whether there is such a day, in the Gregorian calendar.
pub(super) fn is_day(year: u32, month: u32, day: u32) -> bool {
    // PERF: an error of the calendar's is made on the heap, and most numbers are no day.
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return false;
    }
    let [Ok(year), Ok(month), Ok(day)] = [i16::try_from(year), i16::try_from(month), i16::try_from(day)] else {
        return false;
    };
    let (Ok(month), Ok(day)) = (i8::try_from(month), i8::try_from(day)) else { return false };
    jiff::civil::Date::new(year, month, day).is_ok()
}

/// Whether there is such a day in this or the last century: numbers with two digits of the year do not say which.
pub(super) fn is_day_of_century(year: u32, month: u32, day: u32) -> bool {
    is_day(1900 + year, month, day) || is_day(2000 + year, month, day)
}

/// Whether all digits are one: `000000000`, `1111111`.
pub(super) fn is_one_digit(digits: &[u8]) -> bool {
    digits.windows(2).all(|pair| matches!(pair, [one, other] if one == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_pass_and_their_neighbours_fail() {
        for (check, number) in [
            (luhn as fn(&[u8]) -> bool, "79927398713"),
            (mod_11_10, "86095742719"),
            (verhoeff, "2363"),
            (verhoeff, "234123412346"),
        ] {
            assert!(check(number.as_bytes()), "{number}");
            for place in 0..number.len() {
                let mut other = number.as_bytes().to_vec();
                other[place] = b'0' + (other[place] - b'0' + 1) % 10;
                assert!(!check(&other), "{number} changed at {place}");
            }
        }
    }

    #[test]
    fn verhoeff_sees_every_swap_of_neighbours() {
        let number = b"234123412346";
        for place in 1..number.len() {
            let mut other = *number;
            other.swap(place - 1, place);
            assert_eq!(verhoeff(&other), other == *number, "swapped at {place}");
        }
    }

    #[test]
    fn remainders_of_long_numbers() {
        assert_eq!(remainder(b"3214282912345698765432161182", 97), 1);
        assert_eq!(weighted(b"123", &[3, 2, 1]), 10);
    }

    #[test]
    fn days_exist() {
        assert!(is_day(2000, 2, 29) && is_day_of_century(0, 2, 29));
        assert!(!is_day(1900, 2, 29) && !is_day(2001, 13, 1) && !is_day(2001, 1, 0) && !is_day(99_999, 1, 1));
    }
}
