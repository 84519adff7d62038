/**
 * A run of a queue, simulated event by event: `npm run simulate:queue -- --turns 240 --turn-ms 500 --jobs-a-second 100`. Workers
 * start, take users, and wait for the last ones; the server serves one transaction after the other. It says how long a run takes
 * with so many workers, where the time goes, and which of turns, users and server limits it.
 */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { SeededRandom } from '../src/base/seeded-random.ts';
import { runScript, wholeNumber } from './run-script.ts';

/** As workers do: `src/eval/run/queue`. */
const BEAT_MS = 5000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;
const FLEETS = [1, 10, 50, 100, 300, 1000, 2000, 3000];
/** Of the work of a claim, that of a heartbeat. */
const BEAT_SHARE = 1 / 3;

interface Model {
  readonly users: number;
  /** Of the average user; users differ by a factor of two either way. */
  readonly turns: number;
  readonly turnMs: number;
  /** Loading and self-tests of a worker. */
  readonly startMs: number;
  /** That the server takes for a claim, and for storing a result. */
  readonly transactionMs: number;
  readonly seed: number;
}

interface Outcome {
  readonly spanMs: number;
  /** Of the time that workers are there: spent on turns, on the way to the server and back, and with nothing to do. */
  readonly busy: number;
  readonly queued: number;
  readonly idle: number;
  /** Of the time, that the server works. */
  readonly server: number;
}

/** Events by time, the earliest first: a binary heap. */
class Agenda {
  readonly #heap: { readonly at: number; readonly act: (now: number) => void }[] = [];

  add(at: number, act: (now: number) => void): void {
    const heap = this.#heap;
    let place = heap.push({ at, act }) - 1;
    for (let above = (place - 1) >> 1; place > 0 && heap[above]!.at > heap[place]!.at; above = (place - 1) >> 1) {
      [heap[above], heap[place]] = [heap[place]!, heap[above]!];
      place = above;
    }
  }

  run(): void {
    const heap = this.#heap;
    while (heap.length > 0) {
      const { at, act } = heap[0]!;
      const last = heap.pop()!;
      if (heap.length > 0) {
        heap[0] = last;
        this.#sink();
      }
      act(at);
    }
  }

  #sink(): void {
    const heap = this.#heap;
    for (let place = 0; ;) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      const least = right < heap.length && heap[right]!.at < heap[left]!.at ? right : left;
      if (least >= heap.length || heap[least]!.at >= heap[place]!.at) return;
      [heap[least], heap[place]] = [heap[place]!, heap[least]!];
      place = least;
    }
  }
}

/** The share of the server that the heartbeats of one worker take. */
function beatLoad(transactionMs: number): number {
  return (BEAT_SHARE * transactionMs) / BEAT_MS;
}

function simulate(workers: number, { users, turns, turnMs, startMs, transactionMs, seed }: Model): Outcome {
  const random = new SeededRandom(seed);
  const agenda = new Agenda();
  // Heartbeats take their share of the server all the time.
  const beats = workers * beatLoad(transactionMs);
  const callMs = transactionMs / (1 - beats);
  let [freeAt, served] = [0, 0];
  let [waiting, stored, spanMs] = [users, 0, 0];
  const spent = { busy: 0, queued: 0, idle: 0 };
  const call = (now: number, then: (now: number) => void): void => {
    freeAt = Math.max(now, freeAt) + callMs;
    served += transactionMs;
    spent.queued += freeAt - now;
    agenda.add(freeAt, then);
  };
  const claim =
    (pause: number) =>
    (now: number): void =>
      call(now, (taken) => {
        if (waiting === 0) {
          if (stored === users) return;
          const ms = pause * (0.5 + random.float());
          spent.idle += ms;
          agenda.add(taken + ms, claim(Math.min(2 * pause, LONGEST_PAUSE_MS)));
          return;
        }
        waiting--;
        const ms = turns * turnMs * 2 ** (2 * random.float() - 1) * (Math.LN2 / 0.75);
        spent.busy += ms;
        agenda.add(taken + ms, (done) =>
          call(done, (end) => {
            stored++;
            spanMs = end;
            claim(FIRST_PAUSE_MS)(end);
          }),
        );
      });
  for (let worker = 0; worker < workers; worker++)
    agenda.add(startMs * (0.8 + 0.4 * random.float()), claim(FIRST_PAUSE_MS));
  agenda.run();
  const all = workers * spanMs;
  return {
    spanMs,
    ...{ busy: spent.busy / all, queued: Math.min(1, spent.queued / all), idle: spent.idle / all },
    server: Math.min(1, served / spanMs + beats),
  };
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120
    ? `${seconds} s`
    : seconds < 7200
      ? `${(seconds / 60).toFixed(1)} min`
      : `${(seconds / 3600).toFixed(1)} h`;
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      users: { type: 'string', default: '10000' },
      turns: { type: 'string', default: '60' },
      'turn-ms': { type: 'string', default: '1000' },
      'start-ms': { type: 'string', default: '20000' },
      'jobs-a-second': { type: 'string', default: '100' },
      seed: { type: 'string', default: '7' },
    },
  });
  const number = (option: keyof typeof values, least: number): number => wholeNumber(option, values[option], least);
  const model: Model = {
    ...{ users: number('users', 1), turns: number('turns', 1), turnMs: number('turn-ms', 1) },
    ...{ startMs: number('start-ms', 0), transactionMs: 500 / number('jobs-a-second', 1), seed: number('seed', 0) },
  };
  const { users, turns, turnMs, transactionMs } = model;
  const one = users * turns * turnMs;
  console.log(
    `${users} users of ${turns} turns of ${turnMs} ms: ${duration(one)} on one worker; ${transactionMs.toFixed(1)} ms a transaction`,
  );
  const table = new Table({
    head: ['workers', 'takes', 'gain', 'on turns', 'at the server', 'idle', 'server works'],
    style: { head: [], border: [] },
  });
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  for (const workers of FLEETS.filter((fleet) => fleet * beatLoad(transactionMs) < 0.95)) {
    const { spanMs, busy, queued, idle, server } = simulate(workers, model);
    const gain = `${(one / spanMs).toFixed(0)} ×`;
    table.push([workers, duration(spanMs), gain, percent(busy), percent(queued), percent(idle), percent(server)]);
  }
  console.log(table.toString());
  const most = 1 / ((2 * transactionMs) / (turns * turnMs) + beatLoad(transactionMs));
  console.log(
    `the server is full at ${most.toFixed(0)} workers: two transactions a user, and a heartbeat in ${BEAT_MS / 1000} s`,
  );
});
