import { setImmediate as tick } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { TurnQueue } from './turn-queue.ts';

/** Turns that end when they are told to, and a list of what began and ended. */
function turns(): {
  readonly events: string[];
  readonly turn: (name: string) => (place: unknown) => Promise<string>;
  readonly end: (name: string) => Promise<void>;
} {
  const events: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    events,
    turn: (name) => async (place) => {
      events.push(`${name} in ${JSON.stringify(place)}`);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      events.push(`${name} ended`);
      if (name === 'fails') throw new Error('no answer');
      return name;
    },
    end: async (name) => {
      ends.get(name)!();
      await tick();
    },
  };
}

it('runs as many turns as there are places, and the others in order of arrival', async () => {
  const { events, turn, end } = turns();
  const queue = new TurnQueue(['x', 'y']);
  const all = ['a', 'b', 'c', 'd'].map((name) => queue.run(turn(name)));
  await tick();
  expect(events).toEqual(['a in "x"', 'b in "y"']);
  expect([queue.waiting, queue.running]).toEqual([2, 2]);
  await end('b');
  expect(events.slice(2)).toEqual(['b ended', 'c in "y"']);
  await end('a');
  expect(events.slice(4)).toEqual(['a ended', 'd in "x"']);
  await end('c');
  await end('d');
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  expect([queue.waiting, queue.running]).toEqual([0, 0]);
});

it('frees the place of a turn that fails', async () => {
  const { turn, end } = turns();
  const queue = new TurnQueue(['x']);
  const failing = queue.run(turn('fails'));
  const next = queue.run(turn('next'));
  await tick();
  await Promise.all([expect(failing).rejects.toThrow('no answer'), end('fails')]);
  await end('next');
  expect(await next).toBe('next');
});

it('runs turns of one conversation in sequence, and lets others overtake them', async () => {
  const { events, turn, end } = turns();
  const queue = new TurnQueue(['x', 'y']);
  const all = [
    queue.run(turn('first'), { conversation: 's' }),
    queue.run(turn('second'), { conversation: 's' }),
    queue.run(turn('other'), { conversation: 't' }),
  ];
  await tick();
  expect(events).toEqual(['first in "x"', 'other in "y"']);
  await end('other');
  expect(queue.waiting).toBe(1);
  await end('first');
  expect(events.at(-1)).toMatch(/^second in/);
  await end('second');
  await Promise.all(all);
});

it('runs exclusive work after all earlier turns, and no turn overtakes it', async () => {
  const { events, turn, end } = turns();
  const queue = new TurnQueue(['x', 'y']);
  const all = [queue.run(turn('before')), queue.runAlone(turn('alone')), queue.run(turn('after'))];
  await tick();
  expect(events).toEqual(['before in "x"']);
  await end('before');
  expect(events.slice(2)).toEqual(['alone in ["y","x"]']);
  await end('alone');
  expect(events.at(-1)).toBe('after in "y"');
  await end('after');
  await Promise.all(all);
});

it('rejects an aborted turn at once, and lets later ones continue', async () => {
  const { events, turn, end } = turns();
  const queue = new TurnQueue(['x', 'y']);
  const running = queue.run(turn('running'));
  const controller = new AbortController();
  const work = queue.runAlone(turn('work'), controller);
  const behind = queue.run(turn('behind'));
  await tick();
  controller.abort(new Error('enough'));
  await expect(work).rejects.toThrow('enough');
  expect(events).toEqual(['running in "x"', 'behind in "y"']);
  await expect(queue.run(turn('late'), controller)).rejects.toThrow('enough');
  await end('running');
  await end('behind');
  await Promise.all([running, behind]);
  expect([queue.waiting, queue.running]).toEqual([0, 0]);
});

it('does not stop a running turn: the turn handles its own signal', async () => {
  const { turn, end } = turns();
  const queue = new TurnQueue(['x']);
  const controller = new AbortController();
  const running = queue.run(turn('running'), controller);
  controller.abort(new Error('enough'));
  await tick();
  await end('running');
  expect(await running).toBe('running');
});

it('refuses waiting turns when it closes, and waits for running ones', async () => {
  const { events, turn, end } = turns();
  const queue = new TurnQueue(['x']);
  const running = queue.run(turn('running'));
  const refused = expect(queue.run(turn('waiting'))).rejects.toMatchObject({
    code: 'no-session',
    message: 'the system is closed and accepts no more calls',
  });
  await tick();
  const closings = [queue.close(), queue.close()].map((closing) => closing.then(() => events.push('closed')));
  await refused;
  expect(events).toEqual(['running in "x"']);
  await end('running');
  await Promise.all(closings);
  expect(events.slice(1)).toEqual(['running ended', 'closed', 'closed']);
  expect(await running).toBe('running');
  await expect(queue.runAlone(turn('late'))).rejects.toMatchObject({ code: 'no-session' });
});
