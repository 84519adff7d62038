import { style as reportStyle } from '../report/html/style.ts';
import { turnStyle } from './turn/turn-style.ts';

const sharedStyle = `
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
/* Without its script a page has no keys. */
html:not([data-script]) :is(.keys, form[data-static]) { display: none; }
/* Text of users and models: its own line breaks, and never wider than the page. */
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
button:disabled { cursor: default; color: var(--soft); }

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
.list tr[aria-selected="true"] > *, .list tbody tr:focus-within > * { background: var(--wash); }
.list tbody tr:focus-within { outline: 2px solid var(--accent); outline-offset: -2px; }
.list th .soft { font-weight: 400; }
.list .sorted { color: var(--accent); }
.list .cut { min-width: 10rem; max-width: 24rem; }
.pages { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; margin: 0.75rem 0; }
.pages ul { margin: 0; }

dialog { color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 6px; max-width: min(30rem, 92vw); }
dialog::backdrop { background: rgb(0 0 0 / 45%); }
dialog h2 { border: 0; margin: 0 0 0.5rem; padding: 0; }
dialog dl { display: grid; grid-template-columns: auto 1fr; gap: 0.35rem 1rem; margin: 0 0 1rem; }
dialog dd { margin: 0; }

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
}
html[data-page="error"] main p::first-letter { text-transform: uppercase; }
@media print {
  :root { font-size: 9.5pt; }
  .top, .keys, form.filters, .pages ul, button, .mark { display: none; }
  .list { font-size: 6.5pt; }
  .list th, .list td { padding: 0.15rem 0.2rem; }
  .list time, .list .right { white-space: normal; }
  .list td, .list td.id, .list td.name, .list td.sentence, .list tbody th, .list .cut { min-width: 0; }
}

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
@media (max-width: 40rem) {
  .matrix tbody th { min-width: 9rem; max-width: 11rem; }
  .matrix td.gold { min-width: 5rem; }
}
@media print { .matrix tbody th { position: static; } }

/* Two arms side by side */
.pair { width: 100%; table-layout: fixed; }
.pair thead th:first-child, .pair tbody th { width: 8.5rem; position: static; font-weight: 400; color: var(--soft); overflow-wrap: anywhere; }
.pair thead th:nth-child(2), .pair .mark-of { width: 1.8rem; padding: 0.3rem 0.2rem; text-align: center; }
.pair .differs > * { background: var(--wash); }
.pair .differs .mark-of b { color: var(--bad); }
.pair mark { background: var(--query-wash); color: inherit; text-decoration: underline; text-decoration-thickness: 2px; }
.pair .segment { border-left: 4px solid; padding-left: 0.6rem; }
.pair .segment.injected { border-left: 8px double; }
.pair .segment p { margin: 0; max-width: none; }
.pair .segment.system { border-color: var(--system); }
.pair .segment.memory { border-color: var(--memory); }
.pair .segment.history { border-color: var(--history); }
.pair .segment.query { border-color: var(--query); }
.pair .p { display: inline-block; min-width: 3.5rem; }
.pair svg.bar { display: inline-block; width: calc(100% - 4.5rem); height: 0.7rem; vertical-align: middle; }
.pair.numbers tbody th { color: var(--ink); }
.pair td span { white-space: normal; }
@media (max-width: 40rem) {
  .pair { font-size: 0.8rem; }
  .pair thead th:first-child, .pair tbody th { width: 4.6rem; }
  .pair thead th:nth-child(2), .pair .mark-of { width: 1.1rem; }
  .pair th, .pair td { padding: 0.3rem 0.25rem; }
  .pair svg.bar { width: 100%; }
}

/* The progress of a run */
html[data-page="watch"] .phase { font-weight: 600; }
html[data-page="watch"] progress { display: block; width: min(46rem, 100%); height: 1.1rem; accent-color: var(--accent); }
html[data-page="watch"] .name { overflow-wrap: anywhere; }
html[data-page="watch"] [data-state]::before { content: "●"; padding-right: 0.4rem; }
html[data-page="watch"] [data-state="live"]::before { color: var(--good); }
html[data-page="watch"] [data-state="lost"]::before { color: var(--bad); }
`;

/** Style of all pages of the viewer, in addition to that of the report. */
export const style = `${reportStyle}${sharedStyle}${turnStyle}`;
