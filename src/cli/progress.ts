import type { WriteStream } from 'node:tty';
import ora from 'ora';
import type { DownloadProgress } from '../models/hub/hub-file.ts';
import type { Progress } from '../eval/run/progress.ts';
import type { RunEstimate } from '../eval/run/plan/run-estimate.ts';
import { duration } from '../render/duration.ts';

const phases: Readonly<Record<Progress['phase'], string>> = {
  load: 'loading model, embedder and data',
  'self-test': 'testing metrics and parity',
  'warm-up': 'warming up',
  turns: 'asking',
  isolation: 'testing isolation',
  measure: 'measuring',
  judge: 'asking the judge',
  report: 'writing the report',
};
const barColumns = 24;

/** A duration for plans: `52 min`, `3 h 10 min`. */
function roundDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  const tens = Math.round(minutes / 10) * 10;
  return tens % 60 === 0 ? `${tens / 60} h` : `${Math.floor(tens / 60)} h ${tens % 60} min`;
}

/** A run that begins: `20 users, 240 questions, 2,640 turns: about 52 min; --limit 60 for 13 min`. */
export function estimateLine({ users, questions, turns, ms, smaller }: RunEstimate): string {
  const count = (n: number, one: string) => `${n.toLocaleString('en-US')} ${one}${n === 1 ? '' : 's'}`;
  const counts = [count(users, 'user'), count(questions, 'question'), count(turns, 'turn')].join(', ');
  const less = smaller === null ? '' : `; --limit ${smaller.limit} for ${roundDuration(smaller.ms)}`;
  return `${counts}: about ${roundDuration(ms)}${less}`;
}

/** Turns as percent, speed and remaining time; `elapsedMs` and `startedAtTurn` are of this process. */
export function turnsText({ done, total }: Progress, elapsedMs: number, startedAtTurn: number): string {
  const turnsPerMs = elapsedMs > 0 ? (done - startedAtTurn) / elapsedMs : 0;
  const speed =
    turnsPerMs > 0
      ? ` · ${(turnsPerMs * 1000).toFixed(1)} turns/s · ${duration((total - done) / turnsPerMs)} left`
      : '';
  return `${barText(done, total)} of ${total} turns${speed}`;
}

/** Between 0 and 1, even if a server sends more than it stated. */
function share(done: number, total: number): number {
  return total > 0 ? Math.min(1, Math.max(0, done / total)) : 1;
}

/** A progress bar and its percentage. */
function barText(done: number, total: number): string {
  const fraction = share(done, total);
  const filled = Math.round(fraction * barColumns);
  return `${'█'.repeat(filled)}${'░'.repeat(barColumns - filled)} ${Math.floor(fraction * 100)} %`;
}

/** A download as percent, speed and remaining time; `startedAtByte` is of this process. */
export function downloadText(
  { name, doneBytes, totalBytes }: DownloadProgress,
  elapsedMs: number,
  startedAtByte: number,
): string {
  const bytesPerMs = elapsedMs > 0 ? (doneBytes - startedAtByte) / elapsedMs : 0;
  const speed =
    bytesPerMs > 0
      ? ` · ${((bytesPerMs * 1000) / 2 ** 20).toFixed(1)} MiB/s · ${duration(Math.max(0, totalBytes - doneBytes) / bytesPerMs)} left`
      : '';
  return `${barText(doneBytes, totalBytes)} of ${(totalBytes / 2 ** 20).toFixed(1)} MiB · ${name}${speed}`;
}

/** Shows progress: a bar at a terminal, elsewhere a line for each phase and each tenth of the turns. */
export class ProgressDisplay implements Disposable {
  readonly #stream: WriteStream;
  readonly #spinner: ReturnType<typeof ora> | undefined;
  #phase: Progress['phase'] | undefined;
  #start = { ms: 0, turn: 0 };
  #tenth = 0;
  #download = { name: '', ms: 0, byte: 0, tenth: 0 };

  constructor(stream: WriteStream) {
    this.#stream = stream;
    // At a terminal of unknown width ora would erase lines endlessly.
    const terminal = stream.isTTY && stream.columns > 0;
    // Otherwise ora reads standard input, and with it ^C.
    this.#spinner = terminal ? ora({ stream, discardStdin: false }).start() : undefined;
  }

  readonly show = (progress: Progress): void => {
    const entered = progress.phase !== this.#phase;
    this.#phase = progress.phase;
    if (progress.phase !== 'turns') {
      const suite = progress.suite === undefined ? '' : `${progress.suite}: `;
      if (entered) this.say(suite + phases[progress.phase]);
      return;
    }
    // The first turn that is reported was done before.
    if (entered) this.#start = { ms: performance.now(), turn: progress.done };
    const text = turnsText(progress, performance.now() - this.#start.ms, this.#start.turn);
    if (this.#spinner !== undefined) {
      this.#spinner.text = text;
      return;
    }
    const tenth = Math.floor((progress.done / progress.total) * 10);
    if (tenth > this.#tenth) this.say(text);
    this.#tenth = tenth;
  };

  readonly showDownload = (progress: DownloadProgress): void => {
    const { name, doneBytes, totalBytes } = progress;
    const entered = name !== this.#download.name;
    if (entered) this.#download = { name, ms: performance.now(), byte: doneBytes, tenth: 0 };
    const { ms, byte, tenth } = this.#download;
    const text = downloadText(progress, performance.now() - ms, byte);
    if (this.#spinner !== undefined) {
      this.#spinner.text = text;
      return;
    }
    const reached = Math.floor(share(doneBytes, totalBytes) * 10);
    if (entered || reached > tenth) this.say(text);
    this.#download = { ...this.#download, tenth: reached };
  };

  /** The calls of a run that are shown. */
  get hooks() {
    return { onProgress: this.show, onNote: this.note, onDownload: this.showDownload };
  }

  /** Writes a line that stays above the bar. */
  readonly note = (text: string): void => {
    this.#spinner?.clear();
    this.#stream.write(`${text}\n`);
  };

  /** Shows the current activity. */
  say(text: string): void {
    if (this.#spinner === undefined) this.#stream.write(`${text}\n`);
    else this.#spinner.text = text;
  }

  [Symbol.dispose](): void {
    this.#spinner?.stop();
  }
}
