import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runResults } from '../../test/fixtures/run-results.ts';
import { type HandmadeTurn, storeRun } from '../../test/fixtures/stored-runs.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { type BenchDatabase, openDatabase } from '../store/database.ts';
import { RunRepository } from '../store/run-repository.ts';
import { viewerApp } from './app.ts';
import { type MatrixQuery, serverLinks as links, type TurnRef } from './links.ts';
import { type InspectServer, startServer } from './server.ts';

const hostile = '<script>alert("x")</script>\u202e\u0000 <img src=x onerror=alert(1)>';

const turns: HandmadeTurn[] = Array.from({ length: 120 }, (_, index) => index).flatMap((index) =>
  ['rag', 'dki'].map((arm) => ({
    ...{ itemId: `i-${index}`, userId: 'ann', arm },
    right: arm === 'rag' || index % 10 !== 0,
    ...(index === 3 ? { answer: `${hostile}${'长'.repeat(1_000_000)}` } : {}),
  })),
);

const folder = temporaryFolder();
let database: BenchDatabase;
let server: InspectServer;

beforeAll(async () => {
  const path = folder.file('bench.sqlite');
  {
    using writable = openDatabase({ path });
    const runs = new RunRepository(writable);
    runs.update(storeRun(writable, { name: 'group/main', turns }).id, { results: runResults });
    storeRun(writable, { name: 'other', turns: turns.slice(0, 40), datasetSha256: 'f'.repeat(64) });
    storeRun(writable, { name: 'random', turns: turns.slice(0, 4), modelName: 'random:tiny' });
    const failed = { itemId: 'i-1', userId: 'ann', arm: 'rag', right: true, error: hostile };
    storeRun(writable, { name: 'under <way>', turns: [failed], status: 'running' });
  }
  database = openDatabase({ path, readOnly: true });
  const onBug = (error: Error) => expect.fail(error.stack);
  server = await startServer(viewerApp({ database, onBug }), 0);
});
afterAll(async () => {
  await server.close();
  database.close();
});

async function page(address: string, status = 200): Promise<string> {
  const response = await fetch(new URL(address, server.url));
  const text = await response.text();
  expect([address, response.status, text.slice(0, 15)]).toEqual([address, status, '<!doctype html>']);
  return text;
}

/** As no browser asks: with headers of one's own choice. */
function raw(path: string, headers: Record<string, string>, method = 'GET', body = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: server.port, path, method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject).end(body);
  });
}

const ref = (item: string, arm = 'dki'): TurnRef => ({ run: 'group/main', item, arm, repeat: 0, turn: 0 });

describe('pages', () => {
  it('stay below 200 kB, run no script of data and name nothing elsewhere', async () => {
    const addresses = [
      ...[links.runs(), links.run('group/main'), links.run('group/main', { text: 'alert' })],
      ...[links.item('group/main', 'i-3'), links.turn(ref('i-3')), links.turn(ref('i-3'), 'rag')],
      links.compare({ run: 'group/main', arm: 'dki' }, { run: 'group/main', arm: 'rag' }),
    ];
    for (const address of addresses) {
      const text = await page(address);
      expect(Buffer.byteLength(text)).toBeLessThan(200_000);
      expect(text.match(/<script/g)).toHaveLength(1);
      expect(text).not.toMatch(/\u202e|\u0000|<img src=x|\sstyle=|\son[a-z]+="/);
      expect(text.match(/(?:src|href|action)="(?:https?:)?\/\/[^"]*"/g)).toBeNull();
    }
  });

  it('show items and arms as a matrix, with the gold, and the answers behind each question', async () => {
    const text = await page(links.run('group/main'));
    expect(text).toContain('Items 1 to 20 of 120');
    expect(text.match(/title="dki: wrong, cache hit"|title="dki: wrong"/g)).toHaveLength(2);
    expect(text.match(/data-class="[^"]*"/g)).toHaveLength(40);
    expect(text).toContain('>Turin<');
    expect(await page(links.run('group/main', { page: 6 }))).toContain('Items 101 to 120 of 120');
  });

  it('filter the matrix: A wrong and B right, class of error, cache, check', async () => {
    const items = async (query: MatrixQuery): Promise<string | undefined> =>
      /<span role="status"\s*>([^<]+)</.exec(await page(links.run('group/main', query)))?.[1]?.trim();
    expect(await items({ wrong: 'dki', right: 'rag' })).toBe('Items 1 to 12 of 12');
    expect(await items({ wrong: 'rag', right: 'dki' })).toBe('No item matches.');
    expect(await items({ cache: 'miss' })).toBe('No item matches.');
    expect(await items({ check: 'cells' })).toBe('No item matches.');
    expect(await page('/run?run=group%2Fmain&wrong=nobody', 404)).toContain('has no arm');
    expect(await page('/run?run=group%2Fmain&wrongClass=bad', 400)).toContain('is not one of wrong-abstention');
  });

  it('show a turn beside another arm: what differs in answer, prompt and cost', async () => {
    const text = await page(links.turn(ref('i-10'), 'rag'));
    expect(text).toMatch(/<dt>answers<\/dt>\s*<dd>\s*<span class="text">dki [^<]*Oslo[^]*rag [^<]*Turin/);
    expect(text).toContain('id="difference"');
    expect(await page(links.turn(ref('i-10'), 'nobody'), 404)).toContain('has no arm');
  });

  it('list runs, the latest first, with their verdict', async () => {
    expect(await page('/?text=GROUP')).toMatch(/1 run[^]*Against rag, dki gives the same answers/);
    expect((await page('/')).indexOf('>random<')).toBeLessThan((await page('/')).indexOf('>group/main<'));
  });

  it('show a run by its stored results, and its items by page and filter', async () => {
    const text = await page(links.run('group/main'));
    expect(text).toContain('Items 1 to 20 of 120');
    expect(text).toContain('id="run-checks"');
    const next = /href="([^"#]+)#items" rel="next"/.exec(text)![1]!.replaceAll('&amp;', '&');
    const second = await page(next);
    expect(second).toContain('Items 21 to 40 of 120');
    expect(second).toContain('rel="prev"');
    expect(second).not.toContain('id="run-checks"');
    const wrong = await page('/run?run=group%2Fmain&arm=dki&answer=wrong&category=&disagreeing=1');
    expect(wrong).toContain('Items 1 to 12 of 12');
  });

  it('show no scores of random weights, and no results of a run that has none', async () => {
    const text = await page(links.run('random'));
    expect(text).toContain('No scores: random weights.');
    expect(text).not.toContain('✓ right');
    expect(text).toContain('and has no results yet');
  });

  it('draw figures and tables of their own', async () => {
    const tables = [...(await page(links.run('group/main'))).matchAll(/href="(\/table[^"]+)"/g)];
    expect(await page(tables[0]![1]!.replaceAll('&amp;', '&'))).toContain('<table>');
    const figure = /src="(\/figure[^"]+)"/.exec(await page(links.run('group/main')))![1]!.replaceAll('&amp;', '&');
    const picture = await fetch(new URL(figure, server.url));
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(await picture.text()).toContain('<svg');
  });

  it('compare two arms, flips first, and refuse what cannot be compared', async () => {
    const text = await page('/compare?a=group/main&b=group/main');
    expect(text).toContain('0 won, 12 lost, 108 tied');
    expect(text).toContain('difference <b>−10.0 points</b> [−16.7, −5.8]');
    expect(text).toContain('(mean over 120 paired items; 95 % interval over the questions of one user)');
    expect(text.indexOf('− lost')).toBeLessThan(text.indexOf('same'));
    const refused = await page('/compare?a=group/main&b=other', 400);
    expect(refused).toContain('differ in data set');
    const anyway = /href="([^"]+)">Compare them all the same/.exec(refused)![1]!.replaceAll('&amp;', '&');
    expect(await page(anyway)).toContain('FORCED: the runs differ in data set');
    expect(await page('/compare?a=other&armA=dki&b=other&armB=dki', 400)).toContain('is named twice');
  });

  it('show the progress of a run, which its pages lead to before it has results', async () => {
    for (const address of [links.runs(), links.run('under <way>')]) {
      expect(await page(address)).toContain(`href="${links.watch('under <way>')}"`);
    }
    const text = await page(links.watch('under <way>'));
    expect(text).toContain('data-connection="live"');
    expect(text).toContain('100 % · 1 of 1 turns');
    expect(text).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
    expect(text).not.toMatch(/\u202e|<img src=x|\sstyle=/);
    expect(await page(links.watch('group/main'))).toContain('data-connection="ended"');
    expect(await page(links.watch('nobody'), 404)).toContain('there is no run');
  });

  it.each([
    ['/run?run=group/mian', 404, 'did you mean group/main?'],
    ['/run?run=other&arm=ragg', 404, 'did you mean rag?'],
    [links.item('other', 'i-1x'), 404, 'did you mean i-1'],
    [links.turn(ref('i-1', 'dkii')), 404, 'did you mean dki?'],
    ['/../../etc/passwd', 404, 'there is no page'],
    ['/run?run=other&page=x', 400, 'page=&quot;x&quot;'],
    ['/run?run=other&truncated=yes', 400, 'truncated=&quot;yes&quot;'],
    ['/run', 400, 'run is missing'],
    ['/turn?run=other&item=i-1&arm=dki&repeat=-1&turn=0', 400, 'repeat=&quot;-1&quot;'],
    ['/compare?a=other&b=other&page=0', 400, 'page=&quot;0&quot;'],
  ])('name the value that is wrong in %s', async (address, status, named) => {
    expect(await page(address, status)).toContain(named);
  });
});

describe('the server', () => {
  it('listens on 127.0.0.1, sends a strict policy and lets nothing be kept', async () => {
    expect(server.url).toBe(`http://127.0.0.1:${server.port}/`);
    const { headers } = await fetch(server.url);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    const others = ['x-content-type-options', 'x-frame-options', 'cross-origin-resource-policy', 'cache-control'];
    expect(others.map((name) => headers.get(name))).toEqual(['nosniff', 'DENY', 'same-origin', 'no-store']);
  });

  it('answers to its own name only, and changes nothing', async () => {
    const host = `127.0.0.1:${server.port}`;
    const foreign = ['evil.example', `evil.example:${server.port}`, '127.0.0.1', `127.0.0.1:${server.port + 1}`];
    expect(await Promise.all(foreign.map((name) => raw('/', { host: name })))).toEqual([403, 403, 403, 403]);
    expect(await raw('/', { host: `localhost:${server.port}` })).toBe(200);
    const changes = ['POST', 'PUT', 'DELETE'].map((method) => raw('/', { host, origin: `http://${host}` }, method));
    expect(await Promise.all(changes)).toEqual([405, 405, 405]);
  });

  it('says that a port is taken', async () => {
    const onBug = () => undefined;
    await expect(startServer(viewerApp({ database, onBug }), server.port)).rejects.toMatchObject({
      code: 'port',
      message: `port ${server.port} is not available: EADDRINUSE`,
    });
  });
});
