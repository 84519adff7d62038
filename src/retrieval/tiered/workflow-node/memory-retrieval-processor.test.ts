import { type AddressInfo, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectFailure } from '../../../../test/fixtures/bench-failure.ts';
import { WebSocket } from 'ws';
import { EmbeddingService } from '../../../models/embedding/embedding-service.ts';
import { InProcessHotStore } from '../hot-store.ts';
import { MemoryRetrievalProcessor, type NodeContext, type NodeEvent, noEvents } from './memory-retrieval-processor.ts';
import { NodeEventServer } from './node-event-server.ts';
import { SqliteColdStore } from '../sqlite-cold-store.ts';
import { TieredMemory } from '../tiered-memory.ts';
import { backend, embeddings } from '../../../../test/fixtures/shipped-embedder.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';

const folder = temporaryFolder();
let cold: SqliteColdStore;
let node: MemoryRetrievalProcessor;
beforeAll(async () => {
  cold = new SqliteColdStore(folder.file('x.sqlite'), await embeddings.dimension(), backend);
  const memory = new TieredMemory({ hot: new InProcessHotStore(), cold, embeddings });
  node = new MemoryRetrievalProcessor(memory);
  const record = (memoryId: string, content: string) => ({ memoryId, content, metadata: {}, createdAtMs: 10 });
  await memory.load('ann', [record('tea', 'I drink green tea.'), record('cat', 'My cat is called Miso.')]);
});
afterAll(() => cold.close());

// Before anything was remembered, so that all of it is cold.
const context: NodeContext = { nodeId: 'n1', now: new Date(0), limit: 1, threshold: -1 };
let events: NodeEvent[];
beforeEach(() => {
  events = [];
});
const stream = { send: (event: NodeEvent) => events.push(event) };
const kinds = () => events.map(({ type, data }) => `${type} ${Object.values(data).join()}`);

describe('MemoryRetrievalProcessor', () => {
  test('adds history_context to the record, and sends events at the start and at the end', async () => {
    const input = { topic: 'What tea do I drink?', group_id: 'ann', other: [1] };
    const summary = /^## 历史上下文\n\n### 记录 1 \(相关度: 0\.\d\d\)\nI drink green tea\.\n\n$/;
    expect(await node.process(context, input, stream)).toEqual({
      ...input,
      history_context: expect.stringMatching(summary) as string,
    });
    expect(input).not.toHaveProperty('history_context');
    expect(kinds()).toEqual(['node_state_change running', 'node_state_change completed']);
    expect(events.every(({ nodeId, timestamp }) => nodeId === 'n1' && !Number.isNaN(Date.parse(timestamp)))).toBe(true);
  });

  test.each([
    ['topic first', { topic: 'tea', content: 'my cat', document: 'my cat' }, 'green tea'],
    ['then content', { topic: '', content: 'tea', document: 'my cat' }, 'green tea'],
    ['then document', { document: 'my cat Miso' }, 'Miso'],
    ['a topic that is no text is none', { topic: { $gt: '' }, content: 'my cat Miso' }, 'Miso'],
  ])('looks for the %s', async (_, input, found) => {
    const output = await node.process(context, { ...input, group_id: 'ann' }, noEvents);
    expect(output.history_context).toContain(found);
  });

  test('the summary of an empty group is empty; working memory needs no topic', async () => {
    const summaryOf = async (input: object, now = 0) =>
      (await node.process({ ...context, now: new Date(now) }, { ...input }, noEvents)).history_context;
    expect(await summaryOf({ topic: 'tea', group_id: 'eve' })).toBe('');
    expect(await summaryOf({ topic: 'tea' })).toBe('');
    expect(await summaryOf({ group_id: 'ann' })).toBe('');
    expect(await summaryOf({ group_id: 'ann' }, 10)).toBe(
      '## 历史上下文\n\n### 记录 1 (相关度: 1.00)\nI drink green tea.\n\n### 记录 2 (相关度: 1.00)\nMy cat is called Miso.\n\n',
    );
  });

  test('reports a failure of any kind, and returns the record unchanged', async () => {
    const weightless = new EmbeddingService(() => Promise.reject(new TypeError('the weights are not there')));
    const failing = new TieredMemory({ hot: new InProcessHotStore(), cold, embeddings: weightless });
    const input = { topic: 'tea', group_id: 'ann' };
    const run = await new MemoryRetrievalProcessor(failing).run(context, input, stream);
    expect(run).toEqual({ output: input, error: expect.any(TypeError) });
    expect(kinds()).toEqual([
      'node_state_change running',
      'memory_retrieval_error the weights are not there',
      'node_state_change failed',
    ]);
  });
});

describe('NodeEventServer', () => {
  test('sends each event to every client, as JSON, in order', async () => {
    const server = await NodeEventServer.open(0);
    const clients = [new WebSocket(server.url), new WebSocket(server.url)];
    const received = clients.map(() => [] as unknown[]);
    for (const [i, client] of clients.entries()) {
      client.on('message', (data: Buffer) => received[i]!.push(JSON.parse(data.toString())));
    }
    await Promise.all(clients.map((client) => once(client, 'open')));
    const both = { send: (event: NodeEvent) => [stream, server].forEach((each) => each.send(event)) };
    await node.process(context, { topic: 'tea', group_id: 'ann' }, both);
    const closed = clients.map((client) => once(client, 'close'));
    await server.close();
    await Promise.all(closed);
    expect(received).toEqual([events, events]);
    expect(events).toHaveLength(2);
  });

  test('accepts only local clients, and no pages of other origins', async () => {
    const server = await NodeEventServer.open(0);
    expect(server.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
    const refused = new WebSocket(server.url, { origin: 'https://evil.example' });
    const [error] = (await once(refused, 'error')) as [Error];
    expect(error.message).toContain('401');
    const local = new WebSocket(server.url, { origin: 'http://localhost:5173' });
    await once(local, 'open');
    local.terminate();
    await server.close();
  });

  test(
    'is closed within a second where connections stay open that never ask anything',
    { timeout: 10_000 },
    async () => {
      const server = await NodeEventServer.open(0);
      const port = Number(new URL(server.url).port);
      const [idle, half] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
      const client = new WebSocket(server.url);
      await Promise.all([once(idle, 'connect'), once(half, 'connect'), once(client, 'open')]);
      half.write('GET / HTTP/1.1\r\nHost: x\r\n');
      for (const socket of [idle, half, client]) socket.on('error', () => undefined);
      await server.close();
      const again = await NodeEventServer.open(port);
      await again.close();
      for (const socket of [idle, half]) socket.destroy();
    },
  );

  test('names a port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const message = new RegExp(`^127\\.0\\.0\\.1:${port} cannot be opened: .`);
    await expectFailure(NodeEventServer.open(port), 'port', message);
    other.close();
  });
});
