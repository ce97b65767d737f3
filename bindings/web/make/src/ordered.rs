//! The order of the engine's functions.
//!
//! Copies of a generic function for several types are much alike, but compress well only beside each other, within the
//! 32 KiB that gzip looks back: that makes the engine smaller by 6 %.

use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, FunctionSectionReader, KnownCustom, Name, Parser, Payload,
    TypeRef,
};

type Result<T> = std::result::Result<T, Error>;

/// Sorts the functions of a module by their names, which it has to have. Custom sections are left out, unless `has_names`.
pub(crate) fn ordered(engine: &[u8], has_names: bool) -> Result<Vec<u8>> {
    let mut functions = Functions { has_names, ..Functions::default() };
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(engine) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    functions.imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CustomSection(section) => {
                let KnownCustom::Name(parts) = section.as_known() else { continue };
                for part in parts {
                    let Name::Function(named) = part? else { continue };
                    for function in named {
                        let function = function?;
                        names.push((function.name, function.index));
                    }
                }
            }
            _ => {}
        }
    }
    names.retain(|(_, index)| *index >= functions.imported);
    names.sort_unstable();
    functions.order = names.iter().map(|(_, index)| index - functions.imported).collect();
    functions.places = vec![0; functions.order.len()];
    for (place, function) in (0..).zip(&functions.order) {
        functions.places[*function as usize] = place;
    }
    let mut module = Module::new();
    functions.parse_core_module(&mut module, Parser::new(0), engine)?;
    Ok(module.finish())
}

#[derive(Default)]
struct Functions {
    /// The number of functions that are imported, which come before all others.
    imported: u32,
    /// The functions in their new order, by their old places.
    order: Vec<u32>,
    /// The new places, in the old order.
    places: Vec<u32>,
    has_names: bool,
}

impl Reencode for Functions {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32> {
        let place = function.checked_sub(self.imported).map(|at| self.places[at as usize] + self.imported);
        Ok(place.unwrap_or(function))
    }

    fn parse_function_section(
        &mut self,
        to: &mut FunctionSection,
        from: FunctionSectionReader<'_>,
    ) -> Result<()> {
        let types = from.into_iter().collect::<wasmparser::Result<Vec<_>>>()?;
        for function in &self.order {
            to.function(types[*function as usize]);
        }
        Ok(())
    }

    fn parse_code_section(&mut self, to: &mut CodeSection, from: CodeSectionReader<'_>) -> Result<()> {
        let bodies = from.into_iter().collect::<wasmparser::Result<Vec<_>>>()?;
        for function in self.order.clone() {
            self.parse_function_body(to, bodies[function as usize].clone())?;
        }
        Ok(())
    }

    fn parse_custom_section(&mut self, module: &mut Module, section: CustomSectionReader<'_>) -> Result<()> {
        match self.has_names {
            true => wasm_encoder::reencode::utils::parse_custom_section(self, module, section),
            false => Ok(()),
        }
    }
}
