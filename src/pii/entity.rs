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

/// A kind of personal data or secret: its position in the table [`super::entities::TABLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId(pub u8);

impl EntityId {
    /// Its fixed name: `credit_card`.
    pub fn name(self) -> &'static str {
        super::entities::entity_name(self)
    }
}

/// A set of entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct EntitySet(pub u128);

impl EntitySet {
    /// No entity.
    pub const EMPTY: Self = Self(0);

    /// Every entity of the table.
    pub fn all() -> Self {
        (0..super::entities::TABLE.len()).fold(Self::EMPTY, |set, id| set.with(EntityId(id as u8)))
    }

    /// Whether `entity` is in it.
    pub const fn contains(self, entity: EntityId) -> bool {
        self.0 >> entity.0 & 1 == 1
    }

    /// With `entity` added.
    #[must_use]
    pub const fn with(self, entity: EntityId) -> Self {
        Self(self.0 | 1 << entity.0)
    }

    /// All that is in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Itself without what is in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<EntityId> for EntitySet {
    fn from_iter<I: IntoIterator<Item = EntityId>>(entities: I) -> Self {
        entities.into_iter().fold(Self::EMPTY, Self::with)
    }
}
