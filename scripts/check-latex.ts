/**
 * Compiles the tables of a report, and of all reports below it: `npx tsx scripts/check-latex.ts FOLDER`.
 * Needs pdflatex with booktabs, amssymb, graphicx and the fonts (Debian: texlive-latex-recommended, texlive-fonts-recommended).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BenchError } from '../src/base/bench-error.ts';
import { runScript } from './run-script.ts';

/** Excess of width from which a table is cut off in print. */
const TOLERATED_PT = 1;

/** The smallest document that can hold the table. */
function documentWith(path: string): string {
  return String.raw`\documentclass{article}
\usepackage[a4paper,margin=20mm]{geometry}
\usepackage{booktabs}
\usepackage{amssymb}
\usepackage{graphicx}
\begin{document}
\input{"${path}"}
\end{document}
`;
}

/** Errors and warnings of LaTeX about a table. */
function complaints(path: string, folder: string): string[] {
  const source = join(folder, 'table.tex');
  writeFileSync(source, documentWith(path.replaceAll('\\', '/')));
  const { error, status, stdout } = spawnSync('pdflatex', ['-interaction=nonstopmode', '-halt-on-error', 'table.tex'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, max_print_line: '1000' },
  });
  if (error !== undefined) {
    throw new BenchError(
      'not-found',
      `pdflatex cannot be started: ${error.message}`,
      'install it; on Debian: apt-get install texlive-latex-recommended texlive-fonts-recommended',
      error,
    );
  }
  const lines = stdout.split('\n');
  const wide = lines.filter((line) => {
    const points = /^Overfull \\hbox \(([\d.]+)pt too wide\)/.exec(line)?.[1];
    return points !== undefined && Number(points) > TOLERATED_PT;
  });
  const errors = status === 0 ? [] : lines.filter((line) => line.startsWith('!'));
  return [...errors, ...wide, ...lines.filter((line) => line.startsWith('LaTeX Warning: Float too large'))];
}

await runScript(async () => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [root] = positionals;
  if (root === undefined)
    throw new BenchError('bad-option', 'no folder given', 'npx tsx scripts/check-latex.ts reports/demo');
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.tex'))
    .sort()
    .map((path) => resolve(root, path));
  if (paths.length === 0) throw new BenchError('not-found', `${root} holds no .tex`, 'name the folder of a report');
  const folder = mkdtempSync(join(tmpdir(), 'dki-latex-'));
  let failed = 0;
  let skipped = 0;
  try {
    for (const path of paths) {
      if (readFileSync(path, 'utf8').startsWith('% xelatex')) {
        skipped += 1;
        continue;
      }
      const found = complaints(path, folder);
      if (found.length === 0) continue;
      failed += 1;
      console.log(`${path}\n${found.map((line) => `  ${line}\n`).join('')}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const checked = paths.length - skipped;
  console.log(`${checked - failed} of ${checked} tables compile and fit the page; ${skipped} need xelatex, not tried`);
  if (failed > 0) process.exitCode = 1;
});
