import { expect, it } from 'vitest';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { planQueuedRun } from '../../src/eval/run/queue/plan-queued-run.ts';
import { suitesNamed } from '../../src/eval/suites/suites.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

it('a queued plan holds no setting of one machine, so that workers take it', async () => {
  using folder = new TestFolder();
  const config = smallConfig(folder, { arms: 'none,rag', users: '10', limit: '10', workers: '2' });
  const [suite] = suitesNamed(config.suite);
  const { plan } = await planQueuedRun({ suite: suite!, name: 'planned' }, config, selectEngine, {});
  expect(plan.settings).toMatchObject({ limit: 10, users: 10 });
  expect(plan.settings).not.toHaveProperty('workers');
});
