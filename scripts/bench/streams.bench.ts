import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Benchmark, Measured, Side } from './harness.ts';
import type { StreamsClientsMessage } from './streams-clients.ts';
import type { StreamsServerMessage } from './streams-server.ts';

/** Number of open streams, all served by one process: almost the 20,000 files that a process may usually have open. */
const STREAMS = Number(process.env.BENCH_STREAMS ?? 19_500);
const QUICK_STREAMS = 5000;
/**
 * Time for which the streams are idle while the CPU time of heartbeats is measured, milliseconds. After it the process
 * has returned the memory that only the opening took (docs/decisions/0051).
 */
const IDLE_MS = 30_000;
/** Events per repeat, one after the other. */
const EVENTS = 5;

/**
 * Sends one event to every open subscription. Ours is `invoiceEvents` over graphql-sse, measured from the write to the
 * store. The peer loops over the open answers of a node:http server and has the message as text. Server and clients run
 * in separate processes and use loopback TCP.
 */
export const benchmark: Benchmark = {
  name: 'streams',
  about: `one event to ${STREAMS} open streams of one process; the peer writes the same bytes to bare node:http answers`,
  sides: [side('ours', 'ours'), side('bare node:http', 'bare')],
  answers: 'equal',
  repeats: 5,
  warmups: 1,
};

function side(name: string, which: 'ours' | 'bare'): Side {
  let server: ChildProcess | null = null;
  let clients: ChildProcess | null = null;
  let count = 0;
  let round = 0;
  const counts: Record<string, number> = {};

  async function memoryOf(process: ChildProcess): Promise<{ resident: number; heap: number }> {
    const answer = heard<StreamsServerMessage>(process);
    process.send('memory');
    return (await answer) as { resident: number; heap: number };
  }

  async function cpuOf(process: ChildProcess): Promise<number> {
    const answer = heard<StreamsServerMessage>(process);
    process.send('cpu');
    return ((await answer) as { cpuMs: number }).cpuMs;
  }

  return {
    name,
    async open({ quick }) {
      count = quick ? QUICK_STREAMS : STREAMS;
      server = start('streams-server.ts', which);
      const { port, requests } = (await heard<StreamsServerMessage>(server)) as { port: number; requests: string[] };
      clients = start('streams-clients.ts');
      // Memory that the first requests allocate for good does not belong to the streams.
      await openStreams(clients, port, requests, 50);
      await end(clients);
      clients = start('streams-clients.ts');
      const before = await memoryOf(server);
      const began = performance.now();
      await openStreams(clients, port, requests, count);
      counts['ms to open a stream'] = (performance.now() - began) / count;
      const after = await memoryOf(server);
      counts['resident KiB a stream when opened'] = (after.resident - before.resident) / 1024 / count;
      const busy = await cpuOf(server);
      await sleep(IDLE_MS);
      counts['CPU ms a second while idle'] = ((await cpuOf(server)) - busy) / (IDLE_MS / 1000);
      const idle = await memoryOf(server);
      counts['resident KiB a stream'] = (idle.resident - before.resident) / 1024 / count;
      counts['heap KiB a stream'] = (idle.heap - before.heap) / 1024 / count;
    },
    async run(): Promise<Measured> {
      if (!server || !clients) throw new Error(`${name} is not open`);
      const samples: number[] = [];
      let answer = '';
      for (let event = 0; event < EVENTS; event++) {
        const arrived = heard<StreamsClientsMessage>(clients);
        const published = heard<StreamsServerMessage>(server);
        server.send({ publish: ++round });
        const { publishedAt } = (await published) as { publishedAt: string };
        const { arrivals, text } = (await arrived) as { arrivals: string[]; text: string };
        for (const arrival of arrivals) samples.push(Number(BigInt(arrival) - BigInt(publishedAt)) / 1e6);
        answer += text;
      }
      return { latencies: { 'fan-out': samples }, counts, answer };
    },
    async close() {
      if (clients) await end(clients);
      if (server) await end(server);
    },
  };
}

function start(file: string, ...args: string[]): ChildProcess {
  const options = { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] as ['ignore', 'inherit', 'inherit', 'ipc'] };
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, options);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.disconnect();
  await once(child, 'exit');
}

async function openStreams(clients: ChildProcess, port: number, requests: string[], count: number): Promise<void> {
  const opened = heard<StreamsClientsMessage>(clients);
  clients.send({ port, requests, count });
  await opened;
}

/** Returns the next message of a process. */
async function heard<Message>(child: ChildProcess): Promise<Message> {
  const over = new AbortController();
  try {
    const ended = once(child, 'exit', { signal: over.signal }).then(([code]) => {
      throw new Error(`a process of the benchmark ended with code ${code}`);
    });
    const [message] = (await Promise.race([once(child, 'message', { signal: over.signal }), ended])) as [Message];
    return message;
  } finally {
    over.abort();
  }
}
