//! The looks of a page.

/// The style sheet of a page, for light and dark, besides that of its pictures.
pub(super) const STYLE: &str = "\
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--card:#f6f8fa;--good:#1a7f37;\
--better:#9a6700;--bad:#cf222e}\
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#3d444d;--card:#161b22;\
--good:#3fb950;--better:#d29922;--bad:#f85149}}\
*{box-sizing:border-box}\
html{-webkit-text-size-adjust:100%}\
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\
main,header,footer{max-width:88rem;margin:0 auto;padding:0 1rem}\
header{padding-top:1.5rem}\
h1{font-size:1.25rem;line-height:1.3;margin:0 0 1rem;font-weight:600}\
h1 span{display:block;font-size:.875rem;font-weight:400;color:var(--dim)}\
h2{font-size:1.125rem;line-height:1.3;margin:2.5rem 0 .25rem}\
p{margin:.25rem 0 .75rem;max-width:46rem}\
code,pre{font:.875em/1.5 ui-monospace,monospace}\
code{unicode-bidi:isolate}\
.dim{color:var(--dim)}\
.verdict{border:1px solid var(--line);border-left:.375rem solid var(--tone);border-radius:.375rem;padding:.75rem 1rem;\
background:var(--card)}\
.verdict p{font-size:1.125rem;max-width:none;margin:0 0 .5rem}\
.verdict p:last-child{margin:0}\
.verdict pre{margin:.5rem 0 0;padding:.625rem .75rem;background:var(--bg);border:1px solid var(--line);\
border-radius:.375rem;white-space:pre-wrap}\
.good{--tone:var(--good)}.better{--tone:var(--better)}.bad{--tone:var(--bad)}\
dl.key{display:flex;flex-wrap:wrap;gap:.75rem 2rem;margin:1rem 0 0}\
dl.key div{min-width:6rem}\
dt{color:var(--dim);font-size:.875rem}\
dd{margin:0}\
dl.key dd{font-size:1.125rem;font-weight:600}\
dl.facts>div{display:grid;grid-template-columns:minmax(7rem,14rem) 1fr;gap:0 1rem;padding:.25rem 0;\
border-top:1px solid var(--line)}\
dl.facts dt{font-size:inherit}\
figure{margin:.75rem 0 1rem;min-width:0}\
@media(min-width:80rem){.pair{display:grid;grid-template-columns:minmax(28rem,1fr) auto;gap:0 2.5rem;\
align-items:start}}\
.pair>*{min-width:0}\
.scroll{overflow-x:auto;max-width:100%}\
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}\
th,td{padding:.25rem .75rem .25rem 0;text-align:left;vertical-align:top;border-top:1px solid var(--line)}\
th,td{white-space:nowrap}\
th{font-weight:600}\
thead th{border-top:0;color:var(--dim);vertical-align:bottom;white-space:normal;max-width:8rem}\
.n{text-align:right}\
td.w,td.k,tbody th{white-space:normal;overflow-wrap:anywhere}\
td.w{min-width:14rem;max-width:36rem}\
td.k{min-width:9rem;max-width:18rem}\
tbody th{min-width:8rem;max-width:18rem}\
b.bad{color:var(--bad)}\
details{margin:.5rem 0}\
summary{cursor:pointer;padding:.25rem 0}\
ul{padding-left:1.25rem}\
footer{color:var(--dim);font-size:.875rem;padding-top:2rem;padding-bottom:2rem}\
@media(max-width:30rem){dl.facts>div{grid-template-columns:1fr}}\
@media(max-width:40rem){.stack thead{display:none}.stack tr,.stack th,.stack td{display:block;max-width:none;\
border:0;padding:0;text-align:left;white-space:normal}.stack tr{border-top:1px solid var(--line);padding:.5rem 0}\
.stack .n::before{content:\"number: \"}}\
@media print{details>*{display:block}}\
";
