//! Puts the functions of a program into an order in which they compress well: each beside the one most like it. In
//! the compiler's order, copies of one generic function lie far apart, further than gzip looks back. Of functions
//! that do the same, one is kept.

use std::collections::HashMap;
use std::convert::Infallible;

use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, Encode as _, FunctionSection, Module};
use wasmparser::{CodeSectionReader, FunctionBody, FunctionSectionReader, Parser, Payload, TypeRef};

/// The number of hashes that stand for a function when it is compared with others.
const SKETCH: usize = 256;
/// The number of bytes that are compared as one.
const GRAM: usize = 4;

/// Returns the program with its functions in another order. Of functions that do the same, one is kept.
pub(crate) fn reordered(program: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let (mut imported, mut types, mut bodies) = (0, Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(program) {
        match payload? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::FunctionSection(section) => types = section.into_iter().collect::<Result<_, _>>()?,
            Payload::CodeSectionEntry(body) => bodies.push(body),
            _ => {}
        }
    }
    let kept = kept(imported, &types, &bodies)?;
    let code: Vec<&[u8]> = bodies.iter().map(|body| program.get(body.range()).unwrap_or_default()).collect();
    let order = chain(&code, (0..).zip(&kept).filter(|(at, kept)| at == *kept).map(|(at, _)| at).collect());
    let mut places = vec![0; bodies.len()];
    for (place, &function) in (0..).zip(&order) {
        places[function] = place;
    }
    let places = kept.iter().map(|&kept| places[kept]).collect();
    let mut module = Module::new();
    Order { imported, order, places }.parse_core_module(&mut module, Parser::new(0), program)?;
    Ok(module.finish())
}

struct Order {
    /// The number of functions that come before those of the program.
    imported: u32,
    /// The functions by their new places.
    order: Vec<usize>,
    /// The new place of each function or, if it is not kept, of the one that is kept in its stead.
    places: Vec<u32>,
}

impl Reencode for Order {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Infallible>> {
        let place = function.checked_sub(self.imported).and_then(|own| self.places.get(own as usize));
        Ok(place.map_or(function, |place| self.imported + place))
    }

    fn parse_function_section(
        &mut self,
        to: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<Infallible>> {
        let types = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for at in self.order.clone() {
            to.function(utils::type_index(self, types[at]));
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        to: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Infallible>> {
        let bodies = section.into_iter().collect::<Result<Vec<FunctionBody<'_>>, _>>()?;
        for at in self.order.clone() {
            self.parse_function_body(to, bodies[at].clone())?;
        }
        Ok(())
    }
}

/// Returns, for each function, the first one that does the same: it has the same type, and the same code but for
/// calls of functions that do the same.
fn kept(imported: u32, types: &[u32], bodies: &[FunctionBody<'_>]) -> Result<Vec<usize>, Error<Infallible>> {
    let mut kept: Vec<usize> = (0..bodies.len()).collect();
    loop {
        // Not in another order yet.
        let places = kept.iter().map(|kept| *kept as u32).collect();
        let mut order = Order { imported, order: Vec::new(), places };
        let mut firsts = HashMap::new();
        let mut next = Vec::with_capacity(bodies.len());
        for (at, (body, r#type)) in bodies.iter().zip(types).enumerate() {
            let (mut section, mut code) = (CodeSection::new(), Vec::new());
            order.parse_function_body(&mut section, body.clone())?;
            section.encode(&mut code);
            next.push(*firsts.entry((*r#type, code)).or_insert(at));
        }
        if next == kept {
            return Ok(kept);
        }
        kept = next;
    }
}

/// Orders some functions so that each is like the one before.
fn chain(bodies: &[&[u8]], mut left: Vec<usize>) -> Vec<usize> {
    let sketches: Vec<[u32; SKETCH]> = bodies.iter().map(|body| sketch(body)).collect();
    let mut order = Vec::with_capacity(left.len());
    let mut next = (0..left.len()).max_by_key(|&at| bodies[left[at]].len());
    while let Some(at) = next {
        let last = left.swap_remove(at);
        order.push(last);
        let likeness = |at: &usize| {
            let function = left[*at];
            let same =
                sketches[function].iter().zip(&sketches[last]).filter(|(one, other)| one == other).count();
            let lengths = [function, last].map(|function| bodies[function].len());
            (same, std::cmp::Reverse(lengths[0].abs_diff(lengths[1])), std::cmp::Reverse(function))
        };
        next = (0..left.len()).max_by_key(likeness);
    }
    order
}

/// Returns, for each of several hashes, the least hash of the function's bytes. The more bytes two functions have in
/// common, the more of these hashes are equal.
fn sketch(body: &[u8]) -> [u32; SKETCH] {
    let mut least = [u32::MAX; SKETCH];
    for gram in body.windows(GRAM) {
        let hash = gram.iter().fold(0, |hash: u32, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        for (number, least) in (1..).zip(&mut least) {
            *least = (*least).min(mixed(hash ^ mixed(number)));
        }
    }
    least
}

const fn mixed(hash: u32) -> u32 {
    let hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    let hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}
