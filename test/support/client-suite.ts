import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface, type Interface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, invoiceFor } from './client.ts';
import { CASES, type Call, matching, matchingResult, placed, type Result, resolved } from './client-cases.ts';
import { examplesOf, root } from './client-examples.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import { sampled, testLong } from './samples.ts';
import { startService, type TestService } from './service.ts';
import { startUntrusted, type Untrusted } from './untrusted-server.ts';

/**
 * Declares the tests of one client: each case, and many creations with lost answers.
 * @param name of the client: `TypeScript`
 * @param command starts its conformance program at the root of the project
 */
export function clientSuite(name: string, command: string, args: readonly string[]): void {
  describe(`the client for ${name}`, () => {
    let service: TestService;
    let proxy: FaultyProxy;
    let program: Program;
    let untrusted: Untrusted;
    let hosts: Readonly<Record<string, string>>;
    let keys: { readonly secret: string; readonly publishable: string };
    beforeAll(async () => {
      service = await startService({ RATE_LIMIT_SECRET: '1000000', RATE_LIMIT_ADDRESS: '1000000' });
      proxy = await startFaultyProxy(service.url);
      untrusted = await startUntrusted();
      hosts = { proxy: new URL(proxy.url).host, untrusted: untrusted.host };
      const { secretKey, publishableKey } = await service.tenant();
      keys = { secret: secretKey, publishable: publishableKey };
      program = startProgram(command, args, { FATOURA_URL: proxy.url, FATOURA_KEY: secretKey });
    });
    afterAll(async () => {
      await program.close();
      await proxy.close();
      untrusted.close();
      await service.close();
    });

    it('the suite has at least 60 cases, each with another name', () => {
      expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
      expect(CASES.length).toBeGreaterThanOrEqual(60);
    });

    it.each(CASES)(
      '$name',
      async ({ faults = [], calls, requests, connections, keys: sent, lastEventIds, pausesMs = [], pausesDiffer }) => {
        proxy.next(faults);
        const connected = proxy.connections() + untrusted.connections();
        const results: unknown[] = [];
        const ownKeys: (string | null)[] = [];
        for (const { ok, error, key, atLeastMs = 0, atMostMs = Infinity, ...call } of placed(calls, hosts)) {
          const [begun, before] = [performance.now(), proxy.requests.length];
          const result = await program.ask(withKey(resolved(call, results), key, keys));
          const tookMs = performance.now() - begun;
          if (error) expect(result.error).toEqual(matching(error, results));
          else expect(result).toEqual({ ok: matchingResult(ok, result.ok, results) });
          expect(tookMs).toBeGreaterThanOrEqual(atLeastMs);
          expect(tookMs).toBeLessThanOrEqual(atMostMs);
          results.push(result.ok ?? result.error);
          const attempts = proxy.requests.slice(before).filter(({ method, path }) => `${method} ${path}` === CREATION);
          if (attempts.length === 0) continue;
          expect(new Set(attempts.map(({ key }) => key)).size).toBe(1);
          if (!isKeyed(call)) ownKeys.push(...attempts.slice(0, 1).map(({ key }) => key));
        }
        // Each creation without a number or a key of the caller must have a key of its own.
        expect(ownKeys).not.toContain(null);
        expect(new Set(ownKeys).size).toBe(ownKeys.length);
        if (requests !== undefined) expect(proxy.requests).toHaveLength(requests);
        if (connections !== undefined)
          expect(proxy.connections() + untrusted.connections() - connected).toBe(connections);
        if (sent) expect(proxy.requests.map(({ key }) => key)).toEqual(sent);
        if (lastEventIds)
          expect(proxy.requests.map((request) => request.lastEventId)).toEqual(matching(lastEventIds, []));
        const ratios: number[] = [];
        for (const [nth, leastMs] of pausesMs.entries()) {
          const pauseMs = (proxy.requests[nth + 1]?.at ?? 0) - (proxy.requests[nth]?.at ?? 0);
          expect(pauseMs, `pause ${nth + 1}`).toBeGreaterThanOrEqual(leastMs ?? 0);
          if (leastMs !== null && leastMs >= LONG_PAUSE_MS) ratios.push(pauseMs / leastMs);
        }
        if (pausesDiffer) expect(Math.max(...ratios) / Math.min(...ratios)).toBeGreaterThan(MORE_THAN_REQUESTS);
      },
    );

    const MANY = sampled(1000, 20);

    it('creations at once with lost answers make each invoice once', async () => {
      const { secretKey } = await service.tenant();
      const own = startProgram(command, args, { FATOURA_URL: proxy.url, FATOURA_KEY: secretKey });
      proxy.nextOfKeys(LOSSES);
      const [invoice] = CASES[0]?.calls[0]?.args ?? [];
      const creations = Array.from({ length: MANY }, (_, nth): Call => {
        return { call: 'invoices.create', args: [invoice, { orderNumber: String(nth) }] };
      });
      const made: Result[] = [];
      for (let from = 0; from < MANY; from += AT_ONCE) {
        const { ok } = await own.ask({ call: 'many', args: [creations.slice(from, from + AT_ONCE)] });
        made.push(...(ok as Result[]));
      }
      const idsOf = (all: readonly unknown[]) => all.map((each) => (each as { readonly id: string }).id).sort();
      const ids = idsOf(made.map(({ ok }) => ok));
      expect(new Set(ids).size).toBe(MANY);
      expect(proxy.requests.length).toBeGreaterThanOrEqual(MANY * 3);
      const { ok } = await own.ask({ call: 'invoices.list', args: [{}] });
      expect(idsOf(ok as unknown[])).toEqual(ids);
      await own.close();
    });

    testLong('follows by a stream again where it seemed to be cut', async () => {
      const paths: string[] = [];
      const server = createServer(({ url = '' }, answer) => {
        paths.push(url.replace('/v1/invoices/inv_1', ''));
        const isStream = url.endsWith('/stream');
        const isCut = isStream && paths.filter((path) => path === '/stream').length <= 4;
        const status = JSON.stringify({ ...FOLLOWED, status: isStream ? 'accepted' : 'pending' });
        const type = isCut ? 'text/html' : isStream ? 'text/event-stream' : 'application/json';
        answer.writeHead(200, { 'Content-Type': type });
        answer.end(isCut ? '<p>a proxy</p>' : isStream ? `data: ${status}\n\n` : status);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const own = startProgram(command, args, { FATOURA_URL: `http://127.0.0.1:${port}`, FATOURA_KEY: keys.secret });
      const { ok } = await own.ask({ call: 'invoices.follow', args: ['inv_1'] });
      expect(ok).toMatchObject([{ status: 'pending' }, { status: 'accepted' }]);
      // The first read returns a status, then three streams yield nothing, then twelve reads return nothing new.
      const tried = Array.from({ length: 4 }, () => ['/stream', '']).flat();
      expect(paths).toEqual([...tried, ...Array.from({ length: 12 }, () => ''), '/stream']);
      await own.close();
      server.closeAllConnections();
      server.close();
    });
  });
}

/** The first example of a client's README, which is run unchanged. */
export interface FirstExample {
  /** `typescript`: the folder of the client. */
  readonly folder: string;
  /** The language that the README's fence names: `ts`. */
  readonly fence: string;
  /**
   * Returns the command that runs a program of this source, with `FATOURA_URL` and `FATOURA_KEY` in its environment.
   */
  readonly start: (source: string) => readonly [command: string, ...args: string[]];
  /** Matches the output for an accepted invoice. Default: a member `status` with the value `accepted`. */
  readonly prints?: RegExp;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * The examples of a README that need no webhook, joined to one program. `prints` must also match the output of
 * `follow`.
 */
export interface ExamplesInTurn extends FirstExample {
  /** The number of these examples. */
  readonly count: number;
  /** Joins the examples. Default: one after the other. */
  readonly joined?: (examples: readonly string[]) => string;
}

/** Declares the test that the examples of a README that need no webhook run unchanged, one after the other. */
export function examplesInTurn({ count, joined = (texts) => texts.join('\n'), ...readme }: ExamplesInTurn): void {
  const example = { prints: ACCEPTED_AND_FOLLOWED, ...readme };
  it(`the examples in clients/${example.folder}/README.md run as they stand, in their order`, async () => {
    const inTurn = examplesOf(example.folder, example.fence).filter((text) => !/verify/i.test(text));
    expect(inTurn).toHaveLength(count);
    const { output, rejected } = await expectAccepted(example, joined(inTurn));
    expect(output).toContain(rejected);
  });
}

/** Declares the test that the first example of a README runs unchanged, and has at most five lines. */
export function firstExample(example: FirstExample): void {
  it(`the first example in clients/${example.folder}/README.md runs as it stands, in at most five lines`, async () => {
    const [text = ''] = examplesOf(example.folder, example.fence);
    expect(text.trim().split('\n').length).toBeLessThanOrEqual(5);
    await expectAccepted(example, text);
  });
}

/**
 * Runs a program against a service of its own that has a rejected invoice. The program must end without a failure, and
 * print an accepted invoice.
 * @returns its output, and the id of the rejected invoice
 */
async function expectAccepted({ start, prints = ACCEPTED, environment }: FirstExample, source: string) {
  const service = await startService();
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const rejected = (await client.post('/v1/invoices', invoiceFor(REJECTED))).body.id;
  await client.settled(rejected);
  const [command, ...args] = start(source);
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...environment, FATOURA_URL: service.url, FATOURA_KEY: secretKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const output = Buffer.concat(await Array.fromAsync(child.stdout)).toString();
  expect(await ended).toEqual([0, null]);
  expect(output).toMatch(prints);
  await service.close();
  return { output, rejected };
}

/** An ICE whose invoices the authority of the test environment rejects. */
const REJECTED = '999000000000102';

const ACCEPTED = /status\W+accepted/;
/** Matches the result of `settled`, and then the last status of `follow` in its own line. */
const ACCEPTED_AND_FOLLOWED = /status\W+accepted.*^accepted$/ms;

const CREATION = 'POST /v1/invoices';

/** The duration of a request is a small part of a pause of at least this length, milliseconds. */
const LONG_PAUSE_MS = 900;
/** Minimum ratio of the longest to the shortest random pause. Six pauses have a smaller ratio once in 25,000 runs. */
const MORE_THAN_REQUESTS = 1.06;

/** Whether the caller of a creation states a key or an order number. */
function isKeyed({ args }: Call): boolean {
  const { orderNumber, idempotencyKey } = (args[1] ?? {}) as Readonly<Record<string, unknown>>;
  return orderNumber !== undefined || idempotencyKey !== undefined;
}

/** The members of an answer about the followed invoice. */
const FOLLOWED = {
  id: 'inv_1',
  object: 'invoice',
  dgi_id: null,
  rejection_reason: null,
  updated_at: '2026-01-01T00:00:00Z',
};

/** Number of creations that run at the same time. */
const AT_ONCE = 50;
/** The faults of the attempts of a creation before one succeeds. */
const LOSSES: readonly (readonly Fault[])[] = [
  ['lose-answer', 'truncate'],
  ['truncate', 'refuse', 'lose-answer'],
  ['refuse', 'lose-answer'],
];

interface Program {
  ask(call: Call): Promise<Result>;
  close(): Promise<void>;
}

function startProgram(command: string, args: readonly string[], environment: Record<string, string>): Program {
  const child: ChildProcess = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: AsyncIterator<string> = (createInterface({ input: child.stdout! }) as Interface)[Symbol.asyncIterator]();
  return {
    async ask(call) {
      child.stdin?.write(`${JSON.stringify(call)}\n`);
      const { value } = await lines.next();
      if (value === undefined) throw new Error(`the program has ended before it answered ${call.call}`);
      return JSON.parse(value) as Result;
    },
    async close() {
      child.stdin?.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

function withKey({ options, ...call }: Call, key: string | undefined, { publishable }: { publishable: string }): Call {
  const given = key === 'publishable' ? publishable : key;
  return { ...call, options: { ...options, ...(given && { key: given }) } };
}
