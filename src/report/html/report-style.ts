/** Style of the report, for light and dark screens, phones, keyboard use and A4 print. */
export const style = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c1e21; --soft: #5b6168; --line: #d5d9de; --wash: #f4f6f8;
  --accent: #1f5fae; --good: #1d7240; --bad: #b3261e; --bad-wash: #fdecea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e7e9ec; --soft: #a3abb3; --line: #3a4047; --wash: #1e2226;
    --accent: #7fb3f2; --good: #6fcf97; --bad: #ff8a80; --bad-wash: #3a1715;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem clamp(0.75rem, 3vw, 2rem) 3rem; max-width: 76rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 0.25rem; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 2.5rem 0 0.75rem; padding-top: 0.75rem; border-top: 2px solid var(--line); }
h3 { font-size: 1rem; line-height: 1.35; margin: 1.75rem 0 0.5rem; }
p, ul { margin: 0.5rem 0; max-width: 46rem; }
ul { padding-left: 1.2rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
.lead { color: var(--soft); }
.lead-figure figure { max-width: 42rem; }
label.filter { display: block; font-size: 0.85rem; color: var(--soft); margin: 0.25rem 0; }
label.filter input { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 4px; padding: 0.15rem 0.4rem; }
thead button { all: unset; cursor: pointer; font: inherit; }
thead button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
th[aria-sort='ascending'] button::after { content: ' ↑'; }
th[aria-sort='descending'] button::after { content: ' ↓'; }
tbody th a { color: inherit; text-decoration-color: var(--line); }
[hidden] { display: none !important; }
.note { color: var(--soft); font-size: 0.85rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; padding: 0; margin: 1rem 0 0; list-style: none; max-width: none; }
.verdict { border-left: 5px solid var(--good); background: var(--wash); padding: 0.75rem 1rem; margin: 1.25rem 0 0; }
.verdict.failed { border-color: var(--bad); background: var(--bad-wash); }
.verdict h2 { border: 0; margin: 0; padding: 0; }
.verdict p, .verdict ul { max-width: 60rem; }
.verdict .headline { font-size: 1.1rem; font-weight: 600; }
.passed { color: var(--good); }
.failed > strong, b.failed { color: var(--bad); }
b { font-weight: 600; white-space: nowrap; }
/* Blocks stand side by side on wide pages. */
.blocks { display: flex; flex-wrap: wrap; gap: 0 2.5rem; align-items: flex-start; }
.scroll { max-width: 100%; overflow-x: auto; position: relative; margin: 0 0 1rem; }
table { border-collapse: collapse; font-size: 0.875rem; line-height: 1.35; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); font-style: italic; padding: 0.15rem 0; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); vertical-align: top; text-align: left; }
thead th { border-bottom: 2px solid var(--soft); vertical-align: bottom; overflow-wrap: normal; }
tbody th { font-weight: 600; background: var(--paper); position: sticky; left: 0; overflow-wrap: break-word; min-width: 5rem; }
th:first-child { padding-left: 0; }
.right { text-align: right; }
td.sentence { min-width: 14rem; }
td span { white-space: nowrap; }
.interval { color: var(--soft); font-size: 0.9em; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.5rem 2.5rem; align-items: start; margin-top: 1.75rem; }
figure { margin: 0; max-width: 33rem; min-width: 0; }
figcaption { font-weight: 600; line-height: 1.35; margin-bottom: 0.5rem; }
figure svg { display: block; width: 100%; height: auto; }
summary { cursor: pointer; margin: 1.5rem 0 0.5rem; font-weight: 600; }
pre { background: var(--wash); padding: 0.75rem 1rem; white-space: pre-wrap; font-size: 0.85rem; }
.facts th { width: 10rem; }
.facts td { max-width: 60rem; }
.facts div + div { margin-top: 0.35rem; }
@media (max-width: 40rem) {
  body { padding-top: 1rem; }
  tbody th { min-width: 0; max-width: 8rem; }
  td.sentence { min-width: 11rem; }
  th, td { padding: 0.3rem 0.4rem; }
  .facts th { width: 6.5rem; }
}
@page { size: A4; margin: 14mm; }
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --wash: #f4f4f4; --good: #1d7240; --bad: #b3261e; --bad-wash: #fff; }
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  nav, .skip, summary, label.filter { display: none; }
  details::details-content { content-visibility: visible; }
  h2, h3, figcaption, caption { break-after: avoid; }
  .blocks { gap: 0 1.5rem; }
  .scroll { overflow: visible; break-inside: avoid; }
  table { font-size: 7.5pt; }
  tbody th { position: static; min-width: 0; }
  th, td { padding: 0.15rem 0.35rem; }
  thead { display: table-header-group; }
  tr, figure, .verdict { break-inside: avoid; }
  .figures { grid-template-columns: 1fr 1fr; gap: 1rem 1.5rem; }
  .facts td { overflow-wrap: anywhere; }
}
`;
