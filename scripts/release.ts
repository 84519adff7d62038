/**
 * Makes a release on this machine and pushes nothing: `npm run release -- 0.2.0`; with `--dry-run` everything is tried and undone.
 *
 * Tables and licences are drawn anew and must be those of the clean working tree. Then the version stands in package.json, lockfile,
 * changelog and citation, the package is packed, installed in an empty folder and tried there, and all of it is one commit with a tag.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import semver from 'semver';
import { z } from 'zod';
import { BenchError } from '../src/base/bench-error.ts';
import { runScript } from './run-script.ts';

const PREPARED = ['package.json', 'package-lock.json', 'CHANGELOG.md', 'CITATION.cff'];
const UNRELEASED = '## [Unreleased]';
/** Folder of packed releases, which git ignores. */
const OUTPUT = 'build';
const manifest = z.object({ version: z.string() });

/**
 * A changelog in which what is unreleased became a version.
 * @param date as `2026-11-24`
 * @throws BenchError `bad-data` if it has that version, no unreleased section or an empty one
 */
export function releasedChangelog(changelog: string, version: string, date: string): string {
  const heading = `## [${version}]`;
  if (changelog.includes(`\n${heading}`)) {
    throw new BenchError('bad-data', `CHANGELOG.md has ${heading}`, 'choose a version that is not released yet');
  }
  const [before, unreleased] = changelog.split(`\n${UNRELEASED}\n`);
  if (unreleased === undefined) throw new BenchError('bad-data', `CHANGELOG.md has no ${UNRELEASED}`, 'put it in');
  if (!/^[-*] /m.test(unreleased.split('\n## [')[0]!)) {
    throw new BenchError('bad-data', `CHANGELOG.md says nothing under ${UNRELEASED}`, 'say what users can now do');
  }
  return `${before!}\n${UNRELEASED}\n\n${heading} - ${date}\n${unreleased}`;
}

/** CITATION.cff with another version. @param date as `2026-11-24` */
export const releasedCitation = (citation: string, version: string, date: string): string =>
  citation.replace(/^version: .*$/m, `version: ${version}`).replace(/^date-released: .*$/m, `date-released: ${date}`);

function run(command: string, ...words: readonly string[]): void {
  try {
    execFileSync(command, words, { stdio: ['ignore', 'inherit', 'inherit'] });
  } catch (error) {
    const called = [command, ...words].join(' ');
    throw new BenchError('bad-data', `failed: ${called}`, 'it says why above; nothing was released', error);
  }
}

/** Runs another script of this folder, as this one was started. */
function runOwn(name: string, ...words: readonly string[]): void {
  run(process.execPath, ...process.execArgv, `scripts/${name}.ts`, ...words);
}

function printed(command: string, ...words: readonly string[]): string {
  return execFileSync(command, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

function requireClean(hint: string): void {
  const changed = printed('git', 'status', '--porcelain');
  if (changed === '') return;
  throw new BenchError('bad-data', `the working tree is not clean:\n${changed}`, hint);
}

function requireNew(version: string): void {
  const { version: current } = manifest.parse(JSON.parse(readFileSync('package.json', 'utf8')));
  if (semver.valid(version) !== version) {
    throw new BenchError('bad-option', `"${version}" is no version`, `write one above ${current}, as 1.2.3`);
  }
  if (!semver.gt(version, current)) {
    const message = `${version} is not above ${current}, which package.json has`;
    throw new BenchError('bad-option', message, 'choose a newer one');
  }
  if (printed('git', 'tag', '--list', `v${version}`) !== '') {
    throw new BenchError('bad-option', `there is a tag v${version}`, 'choose a version that is not released yet');
  }
}

/** Packs what `prepare` builds. @returns the tarball */
function packed(): string {
  mkdirSync(OUTPUT, { recursive: true });
  run('npm', 'run', '--silent', 'prepare');
  return join(OUTPUT, printed('npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', OUTPUT));
}

function release(version: string, dryRun: boolean): void {
  requireNew(version);
  requireClean('commit or stash it');
  const today = new Date().toISOString().slice(0, 10);
  const changelog = releasedChangelog(readFileSync('CHANGELOG.md', 'utf8'), version, today);
  const citation = releasedCitation(readFileSync('CITATION.cff', 'utf8'), version, today);
  for (const page of ['readme-tables', 'licences']) runOwn(page);
  requireClean('pages were drawn anew: look at them, and commit them');
  let done = false;
  try {
    run('npm', 'version', version, '--no-git-tag-version', '--ignore-scripts', '--silent');
    writeFileSync('CHANGELOG.md', changelog);
    writeFileSync('CITATION.cff', citation);
    const tarball = packed();
    runOwn('check-package', tarball);
    if (dryRun) {
      console.log(`${tarball} would be ${version}; nothing was committed`);
      return;
    }
    run('git', 'commit', '--quiet', '--message', `Release ${version}`, '--', ...PREPARED);
    run('git', 'tag', '--annotate', `v${version}`, '--message', version);
    done = true;
    console.log(`${tarball} is ${version}; publish it: git push --follow-tags && npm publish ${tarball}`);
  } finally {
    if (!done) run('git', 'checkout', '--quiet', 'HEAD', '--', ...PREPARED);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runScript(async () => {
    const options = { 'dry-run': { type: 'boolean', default: false } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [version] = positionals;
    // What stands before the two dashes is npm's.
    if (process.env['npm_config_dry_run'] === 'true') {
      throw new BenchError('bad-option', 'npm took --dry-run for itself', 'npm run release -- 0.2.0 --dry-run');
    }
    if (version === undefined) throw new BenchError('bad-option', 'no version', 'npm run release -- 0.2.0');
    release(version, values['dry-run']);
  });
}
