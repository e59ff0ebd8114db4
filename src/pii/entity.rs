//! The vocabulary of recognition: what an entity is, how sure one can be. It knows no scanner.

/// How sure a match is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// The shape alone.
    Possible,
    /// Validated by checksum, or the shape in a fitting context. The default threshold.
    Likely,
    /// Validated and in context, or unmistakable.
    Certain,
}

impl Confidence {
    /// Its fixed name: `likely`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// A kind of personal data or secret: its position in the table [`super::entities::TABLE`], or that of a custom detector
/// ([`super::custom`]) in its ruleset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId(pub u8);

/// The first id of custom detectors.
const FIRST_OWN: u8 = 128;

impl EntityId {
    /// The custom detector with this position, below [`EntitySet::OWN`].
    pub(super) const fn own(position: usize) -> Self {
        Self(FIRST_OWN + position as u8 % EntitySet::OWN)
    }

    /// The position of a custom detector.
    pub(super) const fn position_of_own(self) -> Option<usize> {
        if self.0 >= FIRST_OWN { Some((self.0 - FIRST_OWN) as usize) } else { None }
    }

    /// The fixed name of a built-in one: `credit_card`. What a custom one is called its ruleset knows
    /// ([`super::custom::Customs::name`]).
    pub fn name(self) -> &'static str {
        super::entities::entity_name(self)
    }
}

/// A set of entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct EntitySet {
    built_in: u128,
    own: u64,
}

impl EntitySet {
    /// No entity.
    pub const EMPTY: Self = Self { built_in: 0, own: 0 };
    /// Room for so many custom detectors.
    pub(super) const OWN: u8 = 64;

    /// Every entity of the table.
    pub fn all() -> Self {
        (0..super::entities::TABLE.len()).fold(Self::EMPTY, |set, id| set.with(EntityId(id as u8)))
    }

    /// Every custom detector.
    pub const fn all_own() -> Self {
        Self { built_in: 0, own: u64::MAX }
    }

    /// Whether `entity` is in it.
    pub const fn contains(self, entity: EntityId) -> bool {
        match entity.position_of_own() {
            None => self.built_in >> entity.0 & 1 == 1,
            Some(at) => at < Self::OWN as usize && self.own >> at & 1 == 1,
        }
    }

    /// With `entity` added.
    #[must_use]
    pub const fn with(self, entity: EntityId) -> Self {
        match entity.position_of_own() {
            None => Self { built_in: self.built_in | 1 << entity.0, ..self },
            Some(at) => Self { own: self.own | 1 << (at % Self::OWN as usize), ..self },
        }
    }

    /// All that is in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self { built_in: self.built_in | other.built_in, own: self.own | other.own }
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self { built_in: self.built_in & other.built_in, own: self.own & other.own }
    }

    /// Itself without what is in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self { built_in: self.built_in & !other.built_in, own: self.own & !other.own }
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.built_in == 0 && self.own == 0
    }
}

impl FromIterator<EntityId> for EntitySet {
    fn from_iter<I: IntoIterator<Item = EntityId>>(entities: I) -> Self {
        entities.into_iter().fold(Self::EMPTY, Self::with)
    }
}
