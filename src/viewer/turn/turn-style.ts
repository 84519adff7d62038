/** Style of the pages of turns and items, in addition to the shared style. */
export const turnStyle = `
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
.pairs { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.3rem 1rem; margin: 0.75rem 0; }
.pairs dt { color: var(--soft); }
.pairs dd { margin: 0; min-width: 0; }
.answer { font-weight: 600; }
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
.swatch { display: inline-block; width: 0.9rem; height: 0.9rem; margin-right: 0.4rem; vertical-align: -0.1rem; border: 1px solid var(--soft); }
.swatch.system { background: var(--system); }
.swatch.memory { background: var(--memory); }
.swatch.history { background: var(--history); }
.swatch.query { background: var(--query); }
.swatch.free { background: var(--free); }
.swatch.reserve { background: var(--reserve); }
.swatch.injected { border: 0; border-left: 6px double var(--ink); }

/* The sequence */
.sequence { list-style: none; padding: 0; margin: 0.75rem 0; }
.sequence li { border-left: 4px solid; padding: 0.2rem 0.75rem 0.35rem; margin: 0 0 2px; }
.sequence li.injected { border-left: 8px double; }
.sequence p { margin: 0; max-width: none; }
.sequence .name { font-size: 0.8rem; }
.sequence .system { border-color: var(--system); background: var(--system-wash); }
.sequence .memory { border-color: var(--memory); background: var(--memory-wash); }
.sequence .history { border-color: var(--history); background: var(--history-wash); }
.sequence .query { border-color: var(--query); background: var(--query-wash); }
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
svg.bar { display: block; width: 100%; height: 1rem; background: var(--wash); }
.bars { min-width: 8rem; width: 60%; vertical-align: middle; }
.bar .system { fill: var(--system); }
.bar .memory { fill: var(--memory); }
.bar .history { fill: var(--history); }
.bar .free { fill: var(--free); }
.bar .reserve { fill: var(--reserve); }
.bar .phase, .bar .here { fill: var(--query); }
.bar .there, .bar .total { fill: var(--soft); }
.bar .first, .bar .helped { fill: var(--good); }
.bar .harmed { fill: var(--bad); }
.bar .axis { fill: var(--ink); }
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
  .pairs { grid-template-columns: minmax(0, 1fr); gap: 0 0; }
  .pairs dd { margin-bottom: 0.5rem; }
  .bars { min-width: 4rem; }
}
@media print {
  .arms .cut, .memories-table tbody th { min-width: 0; }
  .siblings, .show-tokens, .show-tokens + label { display: none; }
  .sequence li, .funnel li { break-inside: avoid; }
  svg.bar, .swatch, .sequence li { print-color-adjust: exact; }
}
`;
