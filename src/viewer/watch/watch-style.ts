/** Style of the page that watches a run. */
export const watchStyle = `
html[data-page="watch"] .phase { font-weight: 600; }
html[data-page="watch"] progress { display: block; width: min(46rem, 100%); height: 1.1rem; accent-color: var(--accent); }
html[data-page="watch"] .name { overflow-wrap: anywhere; }
html[data-page="watch"] [data-state]::before { content: "●"; padding-right: 0.4rem; }
html[data-page="watch"] [data-state="live"]::before { color: var(--good); }
html[data-page="watch"] [data-state="lost"]::before { color: var(--bad); }
`;
