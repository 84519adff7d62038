/** Style of the page of two arms side by side, in addition to the shared style. */
export const pairStyle = `
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
`;
