import { expect, it } from 'vitest';
import { storeRun } from '../../../../test/fixtures/stored-runs.ts';
import { smallConfig, TestFolder } from '../../../../test/model/bench-fixture.ts';
import { benchConfigSchema, engineOptionNames, enginePlaceNames } from '../../../config/bench-config.ts';
import { openDatabase } from '../../../store/database.ts';
import { resumeRules } from './option-resume-rules.ts';
import { resumedConfig } from './resume-run.ts';

const options = Object.keys(benchConfigSchema.shape) as (keyof typeof benchConfigSchema.shape)[];
const withEffect = (effect: string): string[] => options.filter((key) => resumeRules[key] === effect);

it('every option has a rule, and only these options are free', () => {
  expect(options.filter((key) => !(key in resumeRules))).toEqual([]);
  expect(withEffect('free').sort()).toEqual(
    [
      'databaseEcho',
      'db',
      'failBelow',
      'freshSelfTest',
      'json',
      'out',
      'queue',
      'quiet',
      'resume',
      'run',
      'verbose',
    ].sort(),
  );
  const places: readonly string[] = enginePlaceNames;
  const ofEngines = engineOptionNames.filter((name) => !places.includes(name));
  expect(withEffect('fixed')).toEqual(expect.arrayContaining(['retrievalTokens', ...ofEngines]));
  expect(withEffect('verified')).toEqual(expect.arrayContaining([...places]));
});

it('a resumed run keeps its fixed options, and takes all others from the command', () => {
  using folder = new TestFolder();
  using database = openDatabase({ path: folder.file('runs.sqlite') });
  const valueOf = (key: string, when: 'then' | 'now'): unknown => {
    if (key === 'given') return [];
    if (key === 'suite' || key === 'dataset') return [when];
    return ['margin', 'workers'].includes(key) ? when.length : `${key} ${when}`;
  };
  const optionsOf = (when: 'then' | 'now') =>
    Object.fromEntries(Object.keys(resumeRules).map((key) => [key, valueOf(key, when)]));
  const run = storeRun(database, { name: 'r', turns: [], settings: optionsOf('then') });
  const resumed = resumedConfig({ ...smallConfig(folder), ...optionsOf('now') }, run);
  // A judge's address does not affect its verdicts.
  for (const key of options.filter((name) => name !== 'judge')) {
    expect(resumed[key], key).toEqual(valueOf(key, resumeRules[key] === 'fixed' ? 'then' : 'now'));
  }
});
