import type { WriteStream } from 'node:tty';
import ora from 'ora';
import type { Progress } from '../eval/run/bench-hooks.ts';
import type { RunEstimate } from '../eval/run/plan/run-estimate.ts';
import { printable } from '../render/escape-control-characters.ts';
import { countText, durationText } from '../render/format-number.ts';
import type { DownloadProgress } from '../models/hub/download-file.ts';

const phases: Readonly<Record<Progress['phase'], string>> = {
  load: 'loading model, embedder and data',
  'warm-up': 'warming up',
  'self-test': 'testing metrics and parity',
  turns: 'turns',
  isolation: 'testing isolation',
  checks: 'comparing turns with the data file',
  measure: 'measuring',
  judge: 'asking the judge',
  analysis: 'analysing turns and deciding checks',
};
const barColumns = 24;
/** Least time between two lines of a phase, ms, where output is not a terminal; turns write a line per tenth. */
const LINE_MS = 10_000;

/** A rounded duration for estimates: `52 min`, `3 h 10 min`. */
function roundDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  const tens = Math.round(minutes / 10) * 10;
  return tens % 60 === 0 ? `${tens / 60} h` : `${Math.floor(tens / 60)} h ${tens % 60} min`;
}

/** Size and estimated time of a run: `20 users, 240 questions, 2,640 turns: about 52 min; --limit 60 for 13 min`. */
export function estimateLine({ users, questions, turns, ms, smaller }: RunEstimate): string {
  const counts = [countText(users, 'user'), countText(questions, 'question'), countText(turns, 'turn')].join(', ');
  const less = smaller === null ? '' : `; --limit ${smaller.limit} for ${roundDuration(smaller.ms)}`;
  return `${counts}: about ${roundDuration(ms)}${less}`;
}

/** Turns as percent, speed and remaining time; `elapsedMs` counts from turn `startedAtTurn`, where this process began. */
export function turnsText({ done, total }: Progress, elapsedMs: number, startedAtTurn: number): string {
  const speed = speedText(done - startedAtTurn, total - done, elapsedMs, (rate) => `${rate.toFixed(1)} turns/s`);
  return `${barText(done, total)} of ${total} turns${speed}`;
}

/** A phase by its name, percent and remaining time; `elapsedMs` counts from its beginning. */
export function phaseText({ phase, done, total }: Progress, elapsedMs: number): string {
  if (total <= 1 || done === 0) return phases[phase];
  return `${barText(done, total)} · ${phases[phase]}${speedText(done, total - done, elapsedMs)}`;
}

/** A download as percent, speed and remaining time; `elapsedMs` counts from byte `startedAtByte`, where this process began. */
export function downloadText(
  { name, doneBytes, totalBytes }: DownloadProgress,
  elapsedMs: number,
  startedAtByte: number,
): string {
  const left = Math.max(0, totalBytes - doneBytes);
  const speed = speedText(doneBytes - startedAtByte, left, elapsedMs, (perSecond) => `${mebibytes(perSecond)} MiB/s`);
  return `${barText(doneBytes, totalBytes)} of ${mebibytes(totalBytes)} MiB · ${name}${speed}`;
}

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

/** ` · SPEED · TIME left`, the speed if it has a unit; empty before anything was done. */
function speedText(done: number, left: number, elapsedMs: number, speed?: (perSecond: number) => string): string {
  const perMs = elapsedMs > 0 ? done / elapsedMs : 0;
  if (perMs <= 0) return '';
  return `${speed === undefined ? '' : ` · ${speed(perMs * 1000)}`} · ${durationText(left / perMs)} left`;
}

/** Between 0 and 1, even if a server sends more than it stated. */
function share(done: number, total: number): number {
  return total > 0 ? Math.min(1, Math.max(0, done / total)) : 1;
}

function barText(done: number, total: number): string {
  const filled = Math.round(share(done, total) * barColumns);
  return `${'█'.repeat(filled)}${'░'.repeat(barColumns - filled)} ${Math.floor(share(done, total) * 100)} %`;
}

/** Shows progress: a bar at a terminal, elsewhere a line for each phase, each tenth of the turns, and now and then. */
export class ProgressDisplay implements Disposable {
  readonly #stream: WriteStream;
  readonly #spinner: ReturnType<typeof ora> | undefined;
  #phase: Progress['phase'] | undefined;
  #phaseMs = 0;
  #lineMs = 0;
  #turns = { ms: 0, from: 0, tenth: 0 };
  #download = { name: '', ms: 0, from: 0, tenth: -1 };

  constructor(stream: WriteStream) {
    this.#stream = stream;
    // At a terminal of unknown width ora would erase lines endlessly.
    const terminal = stream.isTTY && stream.columns > 0;
    // Otherwise ora reads standard input, and with it ^C.
    this.#spinner = terminal ? ora({ stream, discardStdin: false }).start() : undefined;
  }

  readonly show = (progress: Progress): void => {
    const { phase, done, total } = progress;
    const entered = phase !== this.#phase;
    this.#phase = phase;
    if (phase !== 'turns') {
      this.#showPhase(progress, entered);
      return;
    }
    // The first report counts the turns that were done before.
    if (entered) this.#turns = { ms: performance.now(), from: done, tenth: this.#turns.tenth };
    const { ms, from } = this.#turns;
    this.#sayByTenths(turnsText(progress, performance.now() - ms, from), this.#turns, done / total);
  };

  #showPhase(progress: Progress, entered: boolean): void {
    const now = performance.now();
    if (entered) this.#phaseMs = now;
    else if (this.#spinner === undefined && now - this.#lineMs < LINE_MS) return;
    this.#lineMs = now;
    const { suite } = progress;
    this.say((suite === undefined ? '' : `${suite}: `) + phaseText(progress, now - this.#phaseMs));
  }

  readonly showDownload = (progress: DownloadProgress): void => {
    const { name, doneBytes, totalBytes } = progress;
    if (name !== this.#download.name) this.#download = { name, ms: performance.now(), from: doneBytes, tenth: -1 };
    const { ms, from } = this.#download;
    const text = downloadText(progress, performance.now() - ms, from);
    this.#sayByTenths(text, this.#download, share(doneBytes, totalBytes));
  };

  /** Shows a text at once at a terminal; elsewhere writes it for each new tenth. */
  #sayByTenths(text: string, written: { tenth: number }, reached: number): void {
    const tenth = Math.floor(reached * 10);
    if (this.#spinner !== undefined || tenth > written.tenth) this.say(text);
    written.tenth = tenth;
  }

  get hooks() {
    const onEstimate = (estimate: RunEstimate): void => this.note(estimateLine(estimate));
    return { onProgress: this.show, onEstimate, onNote: this.note, onDownload: this.showDownload };
  }

  /** Writes a line that stays above the bar. */
  readonly note = (text: string): void => {
    this.#spinner?.clear();
    this.#stream.write(`${printable(text)}\n`);
  };

  say(text: string): void {
    const shown = printable(text);
    if (this.#spinner === undefined) this.#stream.write(`${shown}\n`);
    else this.#spinner.text = shown;
  }

  [Symbol.dispose](): void {
    this.#spinner?.stop();
  }
}
