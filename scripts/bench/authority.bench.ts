import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { unsignedDocument, writeInvoice } from '../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../src/adapters/xades/document-signer.ts';
import { legalInvoice } from '../../src/domain/invoice/legal-invoice.ts';
import { type AuthorityClient, authorityClient } from '../../test/support/authority-client.ts';
import { type SimulatorProcess, startSimulatorProcess } from '../../test/support/simulator-process.ts';
import type { Profile } from '../authority-simulator/options.ts';
import type { AuthorityServiceMessage } from './authority-service.ts';
import { benchIdentities, storedInvoice } from './documents-samples.ts';
import type { Benchmark, Measured, Settings, Side } from './harness.ts';
import { createInvoice, type ServiceAddress, statusReached } from './watched-invoice.ts';

/**
 * Measures live invoices against the simulator, over HTTPS with mutual TLS and a token: the time from POST to accepted,
 * one invoice after the other, and the clearances per second when more invoices are created than cleared. Service and
 * simulator are processes of their own; the simulator neither verifies nor examines documents, and sets no limits.
 */
export const benchmark: Benchmark = {
  name: 'authority',
  about:
    'create → accepted and clearances/s, live, decided in the answer to the PUT; beside decisions by polling (after 50 ms), ' +
    'the mock, and bare undici PUTs of such documents, signed beforehand, over the same TLS',
  sides: [
    serviceSide('live, synchronous', 'synchronous'),
    serviceSide('live, polling', 'polling'),
    serviceSide('the mock', null),
    bareSide(),
  ],
  answers: 'incomparable',
  repeats: 3,
  warmups: 1,
};

const SERVICE = fileURLToPath(new URL('authority-service.ts', import.meta.url));
const [LATENCY, RATE] = ['create → accepted', 'clearances'] as const;
/**
 * Number of concurrent requests that create invoices, and of concurrent PUTs of the bare side, which is DGI_CONCURRENCY
 * of the service.
 */
const [CLIENTS, CONCURRENT] = [32, 16] as const;
const POLL_MS = 20;
/** Number of lines, as of the invoices of the other sides. */
const LINES = 20;

const sizeOf = ({ quick }: Settings) => (quick ? { single: 5, many: 50 } : { single: 10, many: 100 });

async function startSimulator(profile: Profile, dataDir: string): Promise<SimulatorProcess> {
  const polling = profile === 'polling' ? ['--decision-delay', '50ms'] : [];
  const options = ['--profile', profile, '--verify', 'none', '--no-limits', '--token-life', '600m', '--quiet'];
  return startSimulatorProcess(dataDir, ...options, ...polling);
}

/** @param profile null: the service has no live authority, and the invoices are those of a test key */
function serviceSide(name: string, profile: Profile | null): Side {
  let dataDir: string | null = null;
  let simulator: SimulatorProcess | null = null;
  let child: ChildProcess | null = null;
  let ended: Promise<never> = Promise.reject(new Error(`${name} is not open`));
  ended.catch(() => undefined);
  let service: ServiceAddress = { url: '', secretKey: '' };

  const heard = async (): Promise<AuthorityServiceMessage> => {
    const [message] = await Promise.race([child ? once(child, 'message') : ended, ended]);
    return message as AuthorityServiceMessage;
  };
  const counts = async () => {
    const answer = heard();
    child?.send('count');
    const message = await answer;
    if (!('accepted' in message)) throw new Error(`${name} did not count`);
    return message;
  };
  /** Documents are made and rendered after acceptance: the next side must not share the machine with that. */
  const finished = async () => {
    while ((await counts()).unfinished > 0) await sleep(10 * POLL_MS);
  };

  async function single(): Promise<number> {
    const start = performance.now();
    await statusReached(service, await createInvoice(service), 'accepted');
    return performance.now() - start;
  }

  /** @returns accepted invoices a second, from the first creation to the last acceptance */
  async function sustained(count: number): Promise<number> {
    const goal = (await counts()).accepted + count;
    const start = performance.now();
    await atOnce(CLIENTS, count, () => createInvoice(service));
    while ((await counts()).accepted < goal) await sleep(POLL_MS);
    return (1000 * count) / (performance.now() - start);
  }

  return {
    name,
    async open() {
      dataDir = await mkdtemp(join(tmpdir(), 'authority-bench-'));
      if (profile !== null) simulator = await startSimulator(profile, dataDir);
      child = fork(SERVICE, [], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        env: { ...process.env, ...simulator?.settings },
      });
      ended = once(child, 'exit').then(([code]) => {
        throw new Error(`the process of ${name} ended with code ${code}`);
      });
      ended.catch(() => undefined);
      const message = await heard();
      if ('url' in message) service = message;
    },
    async run(settings): Promise<Measured> {
      const { single: singles, many } = sizeOf(settings);
      const samples: number[] = [];
      for (let i = 0; i < singles; i++) samples.push(await single());
      await finished();
      const rate = await sustained(many);
      await finished();
      return { latencies: { [LATENCY]: samples }, rates: { [RATE]: rate } };
    },
    async close() {
      if (child && child.exitCode === null) {
        const exited = once(child, 'exit');
        child.disconnect();
        await exited;
      }
      await simulator?.end('SIGTERM');
      if (dataDir !== null) await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** The documents are signed beforehand, and nothing is kept. */
function bareSide(): Side {
  let dataDir: string | null = null;
  let simulator: SimulatorProcess | null = null;
  let client: AuthorityClient | null = null;
  let made = 0;
  let sent = 0;
  const signer = createDocumentSigner(softwareKey(benchIdentities()['P-256']));

  const documents = async (count: number): Promise<Buffer[]> => {
    const signed: Buffer[] = [];
    while (signed.length < count) {
      const number = `2026-${String(++made).padStart(6, '0')}`;
      const { xml, signatureAt } = writeInvoice(legalInvoice(storedInvoice(LINES), number));
      signed.push(Buffer.from(await signer.sign(unsignedDocument({ xml, signatureAt }), new Date())));
    }
    return signed;
  };
  const put = async (document: Buffer): Promise<void> => {
    const answer = await client?.put(`bare_${++sent}`, document);
    if (answer?.body?.status !== 'accepted') throw new Error(`a PUT was answered ${answer?.status} ${answer?.text}`);
  };

  return {
    name: 'bare undici PUTs',
    async open() {
      dataDir = await mkdtemp(join(tmpdir(), 'authority-bench-'));
      simulator = await startSimulator('synchronous', dataDir);
      client = await authorityClient(simulator.settings);
    },
    async run(settings): Promise<Measured> {
      const { single, many } = sizeOf(settings);
      const samples: number[] = [];
      for (const document of await documents(single)) {
        const start = performance.now();
        await put(document);
        samples.push(performance.now() - start);
      }
      const waiting = await documents(many);
      const start = performance.now();
      await atOnce(CONCURRENT, many, async () => put(waiting.pop() as Buffer));
      const rate = (1000 * many) / (performance.now() - start);
      return { latencies: { [LATENCY]: samples }, rates: { [RATE]: rate } };
    },
    async close() {
      await client?.close();
      await simulator?.end('SIGTERM');
      if (dataDir !== null) await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Does the work `count` times, `limit` at a time. */
async function atOnce(limit: number, count: number, work: () => Promise<unknown>): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
