/** Style of the matrix of items and arms, in addition to the shared style. */
export const matrixStyle = `
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
`;
