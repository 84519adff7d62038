import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { runResults } from '../../../test/fixtures/run-results.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { reproduceCommands } from './run-facts.ts';
import { renderReport } from './report-page.ts';

const injected = '<script>alert("x")</script>\u202e';

const times = { missMs: 40, hitMs: 10, textMissMs: 24, textHitMs: 24 };
const second: RunResults = {
  ...runResults,
  run: { ...runResults.run, name: 'main-7-0001/latency', suite: 'latency' },
  breakEven: [{ arm: 'dki', against: 'rag', ...times, turn: 3, low: 2, high: null }],
};
const first: RunResults = { ...runResults, run: { ...runResults.run, name: 'main-7-0001/main' } };

it('opens with the verdict in words', async () => {
  const page = await renderReport([first, second]);
  expect(page).toContain(
    'Against rag, dki gives the same answers bit by bit on 320 of 320 items; time to first token on 200 cache hits: ' +
      '0.41 [0.40,\u00a00.42] × rag (faster).',
  );
  expect(page).toContain('All 4 checks that could be decided passed.');
  expect(page.indexOf('All 4 checks')).toBeLessThan(page.indexOf('id="suite-main"'));
});

it('shows one figure under the verdict, the others behind the tables, and the same for the same results', async () => {
  const page = await renderReport([first, second]);
  expect(await renderReport([structuredClone(first), structuredClone(second)])).toBe(page);
  const [lead, later] = [...page.matchAll(/<figure>/g)].map(({ index }) => index);
  expect(lead).toBeGreaterThan(page.indexOf('id="verdict"'));
  expect(lead).toBeLessThan(page.indexOf('id="suite-main"'));
  expect(later).toBeGreaterThan(page.indexOf('id="suite-latency"'));
});

it('holds all tables of a suite alone, and of several leads to the report of each', async () => {
  const alone = await renderReport([first]);
  const [, others] = /All other tables of this suite: (\d+)/.exec(alone)!;
  const page = await renderReport([first, second]);
  expect(page).not.toContain('All other tables');
  expect(page).toContain(
    `<a href="main/report.html">The report of this suite alone</a>, with its ${others!} other tables`,
  );
  expect(page).toContain('<a href="latency/report.html">');
});

it('says of a number its interval and n, and leads from each row to its turns in the viewer', async () => {
  const page = await renderReport([first]);
  expect(page).toMatch(/title="[\d.]+, 95 % interval [\d.]+ to [\d.]+, n = 320, 40 users"/);
  expect(page).toContain('href="http://127.0.0.1:8414/run?run=main-7-0001%2Fmain&amp;arm=dki#items"');
  expect(page).toContain('title="dki: n = 400 turns; opens them in the viewer"');
  expect(page.match(/<th scope="row">\s*<a /g)!.length).toBeGreaterThan(20);
});

it('puts a failed check first, in red', async () => {
  const checks = runResults.checks.map((one) =>
    one.check === 'token identity' ? { ...one, status: 'failed' as const } : one,
  );
  const page = await renderReport([{ ...runResults, checks }]);
  const warning = page.indexOf('NOT PROVEN: check token identity failed. Do not quote these numbers.');
  expect(warning).toBeGreaterThan(page.indexOf('class="verdict failed"'));
  expect(warning).toBeLessThan(page.indexOf('Against rag, dki gives'));
  expect(page).toContain('<b class="failed">✗ failed</b>');
});

it('needs nothing but itself, and takes no text from data for markup', async () => {
  const { run, arms, checks } = runResults;
  const hostile = {
    ...runResults,
    run: { ...run, name: injected, model: { ...run.model, name: injected }, notes: [injected] },
    arms: arms.map((arm, index) => (index === 0 ? { ...arm, arm: injected } : arm)),
    checks: checks.map((check) => ({ ...check, evidence: injected })),
  };
  const page = await renderReport([hostile]);
  expect(page.match(/<script/g)).toHaveLength(1);
  const [, script] = /<script>([^]*?)<\/script>/.exec(page)!;
  const sha256 = createHash('sha256').update(script!).digest('base64');
  expect(page).toContain(`script-src &#39;sha256-${sha256}&#39;`);
  expect(page).not.toContain('\u202e');
  expect(page.match(/&lt;script&gt;/g)!.length).toBeGreaterThan(10);
  expect(page.match(/(?:src|href)="(?!#|http:\/\/127\.0\.0\.1:8414\/run\?)[^"]*"/g)).toBeNull();
  expect(page.match(/url\(|@import|https?:\/\/(?!www\.w3\.org\/|127\.0\.0\.1:8414\/run\?)/g)).toBeNull();
});

it('is accessible: one main, headings in order, headers with scope, unique ids', async () => {
  const page = await renderReport([first, second]);
  expect(page.match(/<main>/g)).toHaveLength(1);
  const levels = [...page.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
  expect(levels[0]).toBe(1);
  expect(levels.filter((level, index) => index > 0 && level > levels[index - 1]! + 1)).toEqual([]);
  expect(page.match(/<th(?![^>]* scope=)[\s>]/g)).toBeNull();
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  const links = [...page.matchAll(/href="#([^"]+)"|aria-labelledby="([^"]+)"/g)].map(([, a, b]) => a ?? b!);
  expect(links.filter((id) => !ids.includes(id))).toEqual([]);
  expect(page.match(/<svg /g)).toHaveLength(2);
});

it('names the commands that repeat the runs: what is common to all, and no folder of this machine', () => {
  const dataset = '/home/somebody/my data.jsonl';
  const settings = { dataset, model: 'big.gguf', seed: 7, margin: 2, retriever: 'router' };
  const of = (results: RunResults, topK: number): RunResults => ({
    ...results,
    arms: results.arms.slice(0, 2),
    run: { ...results.run, environment: { gitCommit: 'abc123' }, settings: { ...settings, topK, limit: 40 } },
  });
  expect(reproduceCommands([of(first, 5), of(second, 1000)])).toEqual([
    'git checkout abc123',
    'npm ci',
    "npm run bench -- --suite main,latency --run main-7-0001 --arms rag,dki --dataset './my data.jsonl' --model big.gguf --limit 40",
    'npm run tables -- --run main-7-0001 --check',
  ]);
});

const commandsWith = (settings: Readonly<Record<string, unknown>>): string[] =>
  reproduceCommands([{ ...first, run: { ...first.run, settings: { ...first.run.settings, ...settings } } }]);

it('names prompt options that differ from the entry of the model', () => {
  const of = (settings: Readonly<Record<string, unknown>>): string => commandsWith(settings)[1]!;
  const shipped = { model: 'recall-base-f16.gguf', template: 'plain', labels: 'index', answerPrefix: 'none' };
  expect(of(shipped)).not.toMatch(/--template|--labels|--answer-prefix|--system-prompt/);
  const prefix = 'According to your notes,';
  const real = { model: 'SmolLM2-135M-Instruct.Q4_1.gguf', template: 'chat', labels: 'index' };
  expect(of({ ...real, answerPrefix: 'none' })).toContain('--answer-prefix none');
  expect(of({ ...real, answerPrefix: 'item' })).not.toMatch(/--template|--answer-prefix/);
  expect(of({ ...real, model: 'mine.gguf', answerPrefix: prefix, systemPrompt: 'Be brief.' })).toContain(
    "--system-prompt 'Be brief.' --answer-prefix 'According to your notes,' --labels index --template chat",
  );
});

it('names several data sets as they were named, and each with its hash', async () => {
  const of = (dataset: unknown): string => commandsWith({ dataset }).join();
  expect(of(['recall-en.jsonl', 'my data.jsonl'])).toContain("--dataset 'recall-en,./my data.jsonl'");
  expect(of('recall-en.jsonl')).toContain('--dataset recall-en');
  expect(of(['recall-zh.jsonl'])).toContain('--dataset recall-zh');
  expect(of(['recall-en.jsonl', 'recall-zh.jsonl'])).not.toContain('--dataset');
  const parts = (['en', 'zh'] as const).map((language, index) => ({
    ...{ name: `recall-${language}`, sha256: String(index).repeat(64), language, items: 400 + index, users: 40 },
  }));
  const { dataset } = first.run;
  const page = await renderReport([{ ...first, run: { ...first.run, dataset: { ...dataset, parts } } }]);
  expect(page).toContain(
    `recall-en, 400 items of 40 users, sha256 ${'0'.repeat(64)}; recall-zh, 401 items of 40 users, sha256 ${'1'.repeat(64)}`,
  );
});
