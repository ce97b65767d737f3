//! The looks of pictures.

/// Style sheet for all pictures, for light and dark. Its classes begin with `p-`, and so do its
/// variables. `--p-paper` is the background that it expects. Rates have the colours of viridis, and
/// other things those of Okabe and Ito, which people tell apart who see few colours.
pub const STYLE: &str = "\
:root{--p-paper:#fff;--p-ink:#1b1f24;--p-dim:#59636e;--p-grid:#d5dae0;--p-track:#eceff2;--p-edge:#1b1f24;\
--p-now:#6e7781;--p-then:#0072b2;--p-bad:#b34700;--p-s0:#0072b2;--p-s1:#b34700;--p-s2:#007d5a;--p-s3:#a8497f;\
--p-s4:#59636e;--p-s5:#8a6d00;--p-band:#a9cbe3}\
@media(prefers-color-scheme:dark){:root{--p-paper:#0d1117;--p-ink:#e6e9ec;--p-dim:#9aa4ae;--p-grid:#363c43;\
--p-track:#1c2128;--p-edge:#c3cad1;--p-now:#9aa4ae;--p-then:#56b4e9;--p-bad:#f0883e;--p-s0:#56b4e9;--p-s1:#f0883e;\
--p-s2:#2fc39a;--p-s3:#d895bb;--p-s4:#9aa4ae;--p-s5:#e6c84a;--p-band:#2b5674}}\
.p-picture{display:block;overflow:visible;box-sizing:border-box;max-width:100%;font:12px system-ui,sans-serif;\
color:var(--p-ink)}\
.p-picture svg{overflow:visible}\
.p-axes{padding-left:56px;padding-right:14px}\
.p-text{fill:currentColor}\
.p-dim{fill:var(--p-dim)}\
.p-small{font-size:11px;fill:var(--p-dim)}\
.p-bad{fill:var(--p-bad)}\
.p-halo{paint-order:stroke;stroke:var(--p-paper);stroke-width:3px}\
.p-track{fill:var(--p-track)}\
.p-grid{stroke:var(--p-grid)}\
.p-half{stroke:var(--p-dim);stroke-dasharray:1 4}\
.p-minor{stroke:var(--p-grid);stroke-opacity:.45}\
.p-edges rect{stroke:var(--p-edge);stroke-width:.6px}\
.p-r0{fill:#472c7a}.p-r1{fill:#3b528b}.p-r2{fill:#26828e}.p-r3{fill:#35b779}.p-r4{fill:#a5db36}.p-r5{fill:#fde725}\
.p-unknown{fill:var(--p-now);fill-opacity:.55}\
.p-lack{fill:var(--p-bad)}\
.p-missing{fill:url(#p-hatch)}\
.p-hatch-ground{fill:var(--p-paper)}.p-hatch-line{fill:var(--p-bad)}\
.p-now{fill:var(--p-now)}.p-then{fill:var(--p-then)}\
.p-whisker{stroke:var(--p-ink);stroke-width:1.5px}\
.p-formula{stroke:var(--p-dim);stroke-width:1.5px;stroke-dasharray:5 3}\
.p-limit{stroke:var(--p-bad);stroke-width:1.5px;stroke-dasharray:2 3}\
.p-point{fill:var(--p-s0);fill-opacity:.6;stroke:var(--p-paper);stroke-width:.5px}\
.p-s0{--p-s:var(--p-s0)}.p-s1{--p-s:var(--p-s1)}.p-s2{--p-s:var(--p-s2)}.p-s3{--p-s:var(--p-s3)}\
.p-s4{--p-s:var(--p-s4)}.p-s5{--p-s:var(--p-s5)}\
.p-series line{stroke:var(--p-s);stroke-width:1.5px}\
.p-series circle,.p-series path{fill:var(--p-s);stroke:var(--p-s)}\
.p-d1 line{stroke-dasharray:6 2}.p-d2 line{stroke-dasharray:2 2}.p-d3 line{stroke-dasharray:8 2 2 2}\
.p-mark-now{fill:var(--p-paper);stroke:var(--p-ink);stroke-width:2px}\
.p-mark-then{fill:var(--p-ink);stroke:var(--p-paper);stroke-width:1px}\
.p-band{fill:var(--p-band)}.p-mean{fill:none;stroke:var(--p-s0);stroke-width:1.5px;vector-effect:non-scaling-stroke}\
.p-e1{fill:var(--p-bad);fill-opacity:.25}.p-e2{fill:var(--p-bad);fill-opacity:.5}\
.p-e3{fill:var(--p-bad);fill-opacity:.75}.p-e4{fill:var(--p-bad)}";
