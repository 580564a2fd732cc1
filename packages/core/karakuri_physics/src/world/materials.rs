//! Materials and surfaces, changed while the world runs.

use crate::Owner;
use crate::errors::WorldError;
use crate::state::materials::{MaterialId, Mixing, Surface, check, sorted};
use crate::world::World;

impl World {
    /// Sets the rules by which surfaces mix from now on.
    pub fn set_mixing(&mut self, mixing: Mixing) {
        self.wake_all();
        self.state.materials.mixing = mixing;
    }

    /// Makes a material known.
    ///
    /// # Errors
    /// When the name is taken, a number is negative or not finite, the dynamic friction exceeds the static one, or a
    /// soft surface has a restitution or no stiffness.
    pub fn add_material(&mut self, name: &str, surface: Surface) -> Result<MaterialId, WorldError> {
        if self.find_material(name).is_some() {
            let reason = "the name is taken; give every material its own";
            return Err(WorldError::Material { name: name.to_owned(), reason });
        }
        check(name, &surface)?;
        self.state.materials.named.push((name.to_owned(), surface));
        Ok(MaterialId(self.state.materials.named.len() - 1))
    }

    /// The material of this name.
    pub fn find_material(&self, name: &str) -> Option<MaterialId> {
        self.state.materials.named.iter().position(|(known, _)| known == name).map(MaterialId)
    }

    /// Names of all materials.
    pub fn material_names(&self) -> impl Iterator<Item = &str> {
        self.state.materials.named.iter().map(|(name, _)| name.as_str())
    }

    /// Surface of the pair of two materials.
    pub fn pair(&self, a: MaterialId, b: MaterialId) -> Surface {
        let known = &self.state.materials;
        // Numbers of the pair's own go before the rules.
        let own = known.pairs.iter().find(|(pair, _)| *pair == sorted(a, b));
        own.map_or_else(|| known.mixing.of(&known.named[a.0].1, &known.named[b.0].1), |own| own.1)
    }

    /// Gives two materials numbers of their own against each other, whatever the rules.
    ///
    /// # Errors
    /// When a number of the surface is out of range, as in [`Self::add_material`].
    pub fn set_pair(
        &mut self,
        a: MaterialId,
        b: MaterialId,
        surface: Surface,
    ) -> Result<(), WorldError> {
        self.wake_all();
        let known = &mut self.state.materials;
        check(&format!("{} on {}", known.named[a.0].0, known.named[b.0].0), &surface)?;
        let pair = sorted(a, b);
        // Sorted: the list does not depend on the order of calls.
        match known.pairs.binary_search_by_key(&pair, |(pair, _)| *pair) {
            Ok(at) => known.pairs[at].1 = surface,
            Err(at) => known.pairs.insert(at, (pair, surface)),
        }
        Ok(())
    }

    /// Makes a thing's surface one of a material.
    pub fn set_material(&mut self, part: Owner, material: MaterialId) {
        // Friction may be all that holds what sleeps.
        self.wake_all();
        let surface = self.state.materials.named[material.0].1;
        for attachment in self.state.attachments.iter_mut().flatten().filter(|a| a.owner == part) {
            (attachment.surface, attachment.material) = (surface, Some(material));
        }
    }

    /// The surface of a thing; of the first of its shapes.
    pub fn surface(&self, part: Owner) -> Option<Surface> {
        self.state.attachments.iter().flatten().find(|a| a.owner == part).map(|a| a.surface)
    }

    /// Gives a thing a surface of its own, which is of no material.
    ///
    /// # Errors
    /// When a number of the surface is out of range, as in [`Self::add_material`].
    pub fn set_surface(&mut self, part: Owner, surface: Surface) -> Result<(), WorldError> {
        check(&self.part_name(part), &surface)?;
        self.wake_all();
        for attachment in self.state.attachments.iter_mut().flatten().filter(|a| a.owner == part) {
            (attachment.surface, attachment.material) = (surface, None);
        }
        Ok(())
    }
}
