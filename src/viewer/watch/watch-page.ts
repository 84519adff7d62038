import { html } from 'hono/html';
import { groupName } from '../../store/run-names.ts';
import type { Html } from '../../render/html.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { countText, formatNumber, groupedNumber, durationText } from '../../render/format-number.ts';
import { listText } from '../../render/cut-text.ts';
import type { Links, MatrixQuery } from '../links.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { RunProgressRepository } from '../../store/run-progress-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { plannedSize } from '../../eval/analysis/planned-sample.ts';
import { findRunByName } from '../../eval/analysis/results-from-stored-turns.ts';
import { type HiddenTexts, hiddenInReports } from '../hidden-texts.ts';

const ratedTurns = 400;
const shownFaults = 5;
/** The speed is computed over turns of the last five minutes. */
const rateWindowMs = 5 * 60_000;

/** Reads the progress of a run at `now`, in ms since 1970. @throws BenchError `not-found` for an unknown name */
export function readRunProgress(
  database: BenchDatabase,
  runName: string,
  hidden: HiddenTexts = hiddenInReports,
  now = Date.now(),
) {
  const run = findRunByName(database, runName);
  const { name, suite, status, startedAt } = run;
  const growth = new RunProgressRepository(database, run.id);
  const { turns, last, faults } = growth.count();
  const times = status === 'running' && last !== null ? growth.latestTimes(last, ratedTurns) : [];
  return {
    ...{ name, suite, status, startedAt },
    // Probes are stored once the self-tests have passed.
    begun: run.probes !== null,
    turns,
    ...plannedSize(run),
    /** Users with all turns written. */
    users: new UserClaimRepository(database, run.id).finished().size,
    turnsPerSecond: turnRate(times, now),
    lastTurnAt: times.at(-1)?.createdAt ?? null,
    readAt: now,
    faults: { ...countFaults(faults), latest: faults.length === 0 ? [] : latestFaults(growth, hidden(run) !== null) },
  };
}

export type RunProgress = ReturnType<typeof readRunProgress>;

function latestFaults(growth: RunProgressRepository, areHidden: boolean) {
  const latest = growth.latestFaults(shownFaults);
  return latest.map((turn) => (areHidden && turn.error !== null ? { ...turn, error: 'failed' } : turn));
}

function countFaults(faults: ReturnType<RunProgressRepository['count']>['faults']) {
  const checks = new Map<string, number>();
  for (const { checks: failed, turns } of faults) {
    for (const check of failed.split(',')) {
      if (check !== '' && check !== 'errors') checks.set(check, (checks.get(check) ?? 0) + turns);
    }
  }
  return { checks, errors: faults.filter(({ failed }) => failed).reduce((sum, { turns }) => sum + turns, 0) };
}

/** Turns per second over the last minutes, counted from the end of the first item; null if only one item was written. */
export function turnRate(written: ReturnType<RunProgressRepository['latestTimes']>, now: number): number | null {
  const recent = written.filter(({ createdAt }) => createdAt > now - rateWindowMs);
  const [first] = recent;
  if (first === undefined) return null;
  const began = recent.findLastIndex(({ itemId }) => itemId === first.itemId);
  const ms = recent.at(-1)!.createdAt - recent[began]!.createdAt;
  const turns = recent.length - 1 - began;
  return turns === 0 || ms <= 0 ? null : (turns * 1000) / ms;
}

/** After this time without a turn, the page warns that the process may be gone. */
const quietMs = 60_000;

const timeOfDay = (ms: number): string => new Date(ms).toISOString().slice(11, 19);

export const resumption = (name: string): Html =>
  html`<code>npx dki-bench bench --resume ${printable(groupName(name))}</code>`;

function phaseText({ status, begun, turns, ofTurns, name }: RunProgress, links: Links): Html {
  switch (status) {
    case 'finished':
      return html`Finished: verdict, checks and tables are on <a href="${links.run(name)}">the page of the run</a>.`;
    case 'interrupted':
    case 'failed':
      return html`The run was ${status}. Continue it: ${resumption(name)}`;
    case 'running':
      if (!begun) return html`Loading, and running self-tests: turns follow.`;
      if (turns >= ofTurns) return html`All turns are done: the last checks and the report follow.`;
      return html`Running.`;
  }
}

function speedText({ turns, ofTurns, turnsPerSecond, lastTurnAt }: RunProgress): string {
  const left = turnsPerSecond === null ? 0 : ((ofTurns - turns) / turnsPerSecond) * 1000;
  const parts = [
    turnsPerSecond === null ? '' : `${formatNumber(turnsPerSecond, 1)} turns/s`,
    left > 0 ? `about ${durationText(left)} left` : '',
    lastTurnAt === null ? '' : `last turn at ${timeOfDay(lastTurnAt)} UTC`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function progressPart(state: RunProgress, links: Links): Html {
  const { name, turns, ofTurns, users, ofUsers, status, lastTurnAt, readAt } = state;
  const share = ofTurns === 0 ? 0 : Math.floor((100 * turns) / ofTurns);
  const isRunning = status === 'running';
  const silence = isRunning && lastTurnAt !== null && turns < ofTurns ? readAt - lastTurnAt : 0;
  return html`<div data-part="progress">
    <p class="phase ${isRunning || status === 'finished' ? '' : 'bad'}">${phaseText(state, links)}</p>
    <progress max="${ofTurns}" value="${turns}" aria-label="Turns that are written"></progress>
    <p>
      ${share} % · ${groupedNumber(turns)} of ${groupedNumber(ofTurns)} turns · ${groupedNumber(users)} of
      ${groupedNumber(ofUsers)} users complete
    </p>
    <p class="soft">${isRunning ? speedText(state) : ''}</p>
    ${
      silence < quietMs
        ? ''
        : html`<p class="bad">
            No turn for ${Math.floor(silence / 60_000)} min. If its process is gone, continue it: ${resumption(name)}
          </p>`
    }
  </div>`;
}

function faultsPart({ name, faults: { checks, errors, latest } }: RunProgress, links: Links): Html {
  const turnsThat = (filter: MatrixQuery, turns: number): Html =>
    html`<a href="${links.run(name, filter)}#items">${countText(turns, 'turn')}</a>`;
  const list = [
    ...(errors === 0 ? [] : [html`<li>${turnsThat({ failed: true }, errors)} failed</li>`]),
    ...[...checks].map(
      ([check, turns]) =>
        html`<li>
          ${turnsThat({ check }, turns)} ${turns === 1 ? 'fails' : 'fail'} <b class="bad">${printable(check)}</b>
        </li> `,
    ),
  ];
  const fault = ({ itemId: item, arm, repeat, turn, error, failedChecks }: RunProgress['faults']['latest'][number]) =>
    html`<li>
      <a href="${links.turn({ run: name, item, arm, repeat, turn })}"
        >${printable(arm)} on <span class="name">${printable(item)}</span></a
      >: ${error === null ? printable((failedChecks ?? '').replaceAll(',', ', ')) : listText(error)}
    </li> `;
  return html`<div data-part="faults" role="status">
    ${
      list.length === 0
        ? html`<p class="good">No turn has failed, and none fails a check.</p>`
        : html`<ul class="faults">
              ${list}
            </ul>
            <p>The last of them:</p>
            <ul>
              ${latest.map(fault)}
            </ul>`
    }
  </div>`;
}

/** The page with the progress of a run at the time of the request. The script updates it until the run ends. */
export function watchPage(state: RunProgress, links: Links): Html {
  const { name, suite, startedAt, status, readAt } = state;
  return html`<h1>${printable(name)}</h1>
    <p class="lead">
      Suite ${printable(suite)}, started ${new Date(startedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC ·
      <a href="${links.run(name)}">its turns, and results so far</a>
    </p>
    <p class="soft" data-connection="${status === 'running' ? 'live' : 'ended'}">
      As of ${timeOfDay(readAt)} UTC; reload the page to update it.
    </p>
    ${progressPart(state, links)}
    <section aria-labelledby="faults-heading">
      <h2 id="faults-heading">Failing turns</h2>
      ${faultsPart(state, links)}
    </section>`;
}
