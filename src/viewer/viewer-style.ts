import { style as reportStyle } from '../report/html/report-style.ts';

export const style = `${reportStyle}
body { max-width: 90rem; }
body, input, select, button, textarea {
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "PingFang SC",
    "Microsoft YaHei", "Source Han Sans SC", sans-serif;
}
code, kbd, pre, .mono {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono", "DejaVu Sans Mono", "Liberation Mono",
    "Noto Sans Mono CJK SC", monospace;
}
h1 { margin-top: 0.75rem; }
figure img { display: block; width: 100%; height: auto; }
main:focus { outline: none; }
.top nav ol { display: flex; flex-wrap: wrap; gap: 0.25rem 0; padding: 0; margin: 0; list-style: none; font-size: 0.9rem; }
.top nav li + li::before { content: "›"; color: var(--soft); padding: 0 0.5rem; }
.top nav li[aria-current] { color: var(--soft); }
.soft { color: var(--soft); }
.good { color: var(--good); }
.bad { color: var(--bad); }
kbd { border: 1px solid var(--line); border-radius: 3px; padding: 0 0.35em; background: var(--wash); font-size: 0.85em; }
.keys { margin-top: 3rem; color: var(--soft); font-size: 0.85rem; }
/* Keys and filters of exports need the script. */
html:not([data-script]) :is(.keys, form[data-static]) { display: none; }
/* Texts of users and models keep their line breaks and never exceed the width of the page. */
.text { white-space: pre-wrap; overflow-wrap: anywhere; }

/* Filters and other forms */
form.filters { display: flex; flex-wrap: wrap; gap: 0.5rem 0.9rem; align-items: end; margin: 0.75rem 0; padding: 0.75rem 1rem; background: var(--wash); }
form.filters label { display: flex; flex-direction: column; gap: 0.15rem; font-size: 0.85rem; color: var(--soft); min-width: 0; }
form.filters label.tick { flex-direction: row; align-items: center; gap: 0.4rem; color: var(--ink); min-height: 2.1rem; }
input, select, button {
  font-size: 0.95rem; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 4px;
  padding: 0.3rem 0.5rem; max-width: 100%; min-height: 2.1rem;
}
input[type="checkbox"], input[type="radio"] { min-height: 0; width: 1.1rem; height: 1.1rem; accent-color: var(--accent); }
button { cursor: pointer; font-weight: 600; }
button:hover { border-color: var(--accent); }

/* Lists with keys */
.list { width: 100%; }
.list td, .list th { overflow-wrap: break-word; }
.list .cut { overflow-wrap: anywhere; }
.list .right, .list time { white-space: nowrap; }
.list thead .right { white-space: normal; }
.list td span { white-space: normal; }
.list thead th { overflow-wrap: normal; }
.list tbody th { position: static; min-width: 6.75rem; max-width: 14rem; }
.list td { min-width: 3rem; }
.list td.id, .list td.name { min-width: 5.5rem; }
.list td.sentence { min-width: 20rem; }
.list tbody tr:focus-within > * { background: var(--wash); }
.list tbody tr:focus-within { outline: 2px solid var(--accent); outline-offset: -2px; }
.list th .soft { font-weight: 400; }
.list .cut { min-width: 10rem; max-width: 24rem; }
.pages { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; margin: 0.75rem 0; }
.pages ul { margin: 0; }

dialog { color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 6px; max-width: min(30rem, 92vw); }
dialog::backdrop { background: rgb(0 0 0 / 45%); }
dialog h2 { border: 0; margin: 0 0 0.5rem; padding: 0; }
dialog dl { display: grid; grid-template-columns: auto 1fr; gap: 0.35rem 1rem; margin: 0 0 1rem; }
dialog dd { margin: 0; }

html[data-page="error"] main p::first-letter { text-transform: uppercase; }

/* Items and arms */
.matrix tbody th { min-width: 14rem; max-width: none; font-weight: 400; background: var(--paper); position: sticky; left: 0; }
.matrix thead th:first-child { position: sticky; left: 0; background: var(--paper); }
.matrix th > a { font-size: 0.8rem; }
.matrix summary { margin: 0; font-weight: 400; }
.matrix td.gold { width: 22%; min-width: 7rem; }
.matrix th.arm { width: 2.1rem; padding: 0.3rem 0.35rem; vertical-align: bottom; }
.matrix th.arm span { writing-mode: vertical-rl; rotate: 180deg; white-space: nowrap; }
.matrix td.o { min-width: 0; padding: 0; text-align: center; border-left: 1px solid var(--line); }
.matrix td.o a { display: block; padding: 0.4rem 0.5rem; text-decoration: none; }
.matrix td.o a { color: inherit; }
.matrix td.bad { background: var(--bad-wash); }
.matrix td.o a:hover { outline: 2px solid var(--accent); outline-offset: -2px; }
.answers { display: grid; grid-template-columns: auto; gap: 0 0.75rem; margin: 0.4rem 0; }
.answers dd { margin: 0 0 0.3rem 1.2rem; color: var(--soft); font-size: 0.8rem; }

/* The progress of a run */
html[data-page="watch"] .phase { font-weight: 600; }
html[data-page="watch"] progress { display: block; width: min(46rem, 100%); height: 1.1rem; accent-color: var(--accent); }
html[data-page="watch"] .name { overflow-wrap: anywhere; }
html[data-page="watch"] [data-state]::before { content: "●"; padding-right: 0.4rem; }
html[data-page="watch"] [data-state="live"]::before { color: var(--good); }
html[data-page="watch"] [data-state="lost"]::before { color: var(--bad); }

/* Turns and items */
:root {
  --system: #5f6b7a; --system-wash: #eef1f4; --memory: #8a4b00; --memory-wash: #fdf0e0;
  --history: #6a3fa0; --history-wash: #f3ecfb; --query: #1f5fae; --query-wash: #e8f0fb; --free: #e3e7eb; --reserve: #b9c1ca;
}
@media (prefers-color-scheme: dark) {
  :root {
    --system: #a9b4c0; --system-wash: #22282e; --memory: #f2b36b; --memory-wash: #33260f;
    --history: #c7a6f2; --history-wash: #2b2138; --query: #8fbdf5; --query-wash: #182a40; --free: #2b3138; --reserve: #566069;
  }
}
.system { --part: var(--system); --part-wash: var(--system-wash); }
.memory { --part: var(--memory); --part-wash: var(--memory-wash); }
.history { --part: var(--history); --part-wash: var(--history-wash); }
.query { --part: var(--query); --part-wash: var(--query-wash); }
.free { --part: var(--free); }
.reserve { --part: var(--reserve); }
.pairs { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.3rem 1rem; margin: 0.75rem 0; }
.pairs dt { color: var(--soft); }
.pairs dd { margin: 0; min-width: 0; }
span.left { color: var(--soft); font-style: italic; white-space: normal; }
.plain th, .plain td { overflow-wrap: break-word; }
.plain code { white-space: nowrap; }
.siblings ul { gap: 0.25rem 0.9rem; }
.funnel { display: flex; flex-wrap: wrap; gap: 0.5rem; list-style: none; padding: 0; margin: 0.5rem 0; }
.funnel li { border: 1px solid var(--line); border-left: 4px solid var(--soft); padding: 0.3rem 0.7rem; }
.funnel li small { display: block; color: var(--soft); }
.funnel .passed { border-left-color: var(--good); }
.funnel .failed { border-left: 4px double var(--bad); background: var(--bad-wash); font-weight: 600; }
.funnel .failed small { color: var(--bad); }
.funnel .unknown { border-left-style: dotted; color: var(--soft); }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.1rem; list-style: none; padding: 0; max-width: none; font-size: 0.9rem; }
.swatch { display: inline-block; width: 0.9rem; height: 0.9rem; margin-right: 0.4rem; vertical-align: -0.1rem; border: 1px solid var(--soft); background: var(--part); }
.swatch.injected { border: 0; border-left: 6px double var(--ink); }

/* The sequence */
.sequence { list-style: none; padding: 0; margin: 0.75rem 0; }
.sequence li { border-left: 4px solid var(--part); background: var(--part-wash); padding: 0.2rem 0.75rem 0.35rem; margin: 0 0 2px; }
.sequence li.injected { border-left: 8px double var(--part); }
.sequence p { margin: 0; max-width: none; }
.sequence .name { font-size: 0.8rem; }
.sequence i { font-style: normal; }
.sequence sub { display: none; }
.show-tokens { vertical-align: middle; margin: 0 0.5rem 0 0; }
.show-tokens:checked ~ .sequence i { box-shadow: inset 1px 0 0 var(--ink), inset 0 -1px 0 var(--soft); padding-left: 2px; line-height: 2; }
.show-tokens:checked ~ .sequence sub { display: inline; font-size: 0.7rem; padding: 0 3px; vertical-align: sub; font-variant-numeric: tabular-nums; }

/* Cost and next token stand side by side on wide pages. */
@media (min-width: 72rem) {
  .sections { display: grid; grid-template-columns: 1fr 1fr; gap: 0 3rem; }
  .sections > * { grid-column: 1 / -1; min-width: 0; }
  .sections > .cost-section { grid-column: 1; }
  .sections > .next-section { grid-column: 2; }
}

/* Bars */
.bar :is(.phase, .here) { --part: var(--query); }
.bar :is(.there, .total) { --part: var(--soft); }
.bar :is(.first, .helped) { --part: var(--good); }
.bar .harmed { --part: var(--bad); }
.bar .axis { --part: var(--ink); }
.bar rect { fill: var(--part); }
svg.bar { display: block; width: 100%; height: 1rem; background: var(--wash); }
.bars { min-width: 8rem; width: 60%; vertical-align: middle; }
.timings-table, .next-tokens-table, .gold-tokens-table, .attributions-table { width: 100%; max-width: 52rem; }
.next-tokens-table .bars { width: 30%; min-width: 4rem; }
.memories-table .wide { min-width: 14rem; }
.memories-table tbody th { min-width: 6rem; }
.memories-table .evidence > * { background: var(--wash); }
.token-counts-table td { font-size: 1rem; }

/* Differences */
.difference-section .items { list-style: none; padding: 0; max-width: none; }
.difference-section li { padding: 0.15rem 0; }
ins, del { text-decoration-thickness: 2px; padding: 0 0.15em; }
ins { background: var(--query-wash); }
del { background: var(--bad-wash); }
.arms .cut { min-width: 12rem; }

@media (max-width: 40rem) {
  form.filters { padding: 0.6rem; }
  form.filters label { flex: 1 1 8rem; }
  .list .cut { min-width: 11rem; }
  /* A run in a few lines: its verdict would lie far to the right. */
  .runs thead { position: absolute; clip-path: inset(50%); height: 1px; width: 1px; overflow: hidden; }
  .runs, .runs tbody { display: block; }
  .runs tbody tr { display: flex; flex-wrap: wrap; column-gap: 0.7rem; padding: 0.4rem 0; border-bottom: 1px solid var(--line); }
  .runs tbody th, .runs tbody td, .runs td.name, .runs td.sentence { min-width: 0; padding: 0.05rem 0; border: 0; }
  .runs tbody th, .runs td.sentence { flex: 1 1 100%; max-width: none; }
  .runs td.right::after { content: " items"; }
  .runs td.mark:nth-of-type(1)::before { content: "A "; }
  .runs td.mark:nth-of-type(2)::before { content: "B "; }
  .matrix tbody th { min-width: 9rem; max-width: 11rem; }
  .matrix td.gold { min-width: 5rem; }
  .pairs { grid-template-columns: minmax(0, 1fr); gap: 0 0; }
  .pairs dd { margin-bottom: 0.5rem; }
  .bars { min-width: 4rem; }
}
@media print {
  :root { font-size: 9.5pt; }
  .top, .keys, form.filters, .pages ul, button, .mark { display: none; }
  .list { font-size: 6.5pt; }
  .list th, .list td { padding: 0.15rem 0.2rem; }
  .list time, .list .right { white-space: normal; }
  .list td, .list td.id, .list td.name, .list td.sentence, .list tbody th, .list .cut { min-width: 0; }
  .arms .cut, .memories-table tbody th { min-width: 0; }
  .siblings, .show-tokens, .show-tokens + label { display: none; }
  .sequence li, .funnel li { break-inside: avoid; }
  svg.bar, .swatch, .sequence li { print-color-adjust: exact; }
  .matrix tbody th { position: static; }
}
`;
