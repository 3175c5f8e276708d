import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Benchmark, Side } from './harness.ts';
import type { LatencyServiceMessage } from './latency-service.ts';

/**
 * Time from POST to accepted (as seen on the invoice's stream) and to the last byte of the PDF, for one invoice after
 * the other, on the embedded engine.
 */
export const benchmark: Benchmark = {
  name: 'latency',
  about: 'create → accepted, create → PDF downloaded, in series; the peer is the same stages as five stock Agenda jobs',
  sides: [side('ours', 'ours'), side('five stock Agenda jobs', 'stock')],
  answers: 'incomparable',
};

const SERVICE = fileURLToPath(new URL('latency-service.ts', import.meta.url));

/** 20 lines, two VAT rates: 2,500 × 20 × 1.20 / 2 + 2,500 × 20 × 1.10 / 2 centimes. */
const INVOICE = {
  amount: 57_500,
  currency: 'MAD',
  customer: { ice: '001234567000062', name: 'Atlas Distribution SARL', address: '12, rue des Orangers, Casablanca' },
  lines: Array.from({ length: 20 }, (_, i) => ({
    description: `Prestation ${i + 1}`,
    quantity: 1,
    unit_price: 2500,
    tax_rate: i % 2 === 0 ? 20 : 10,
  })),
};

function side(name: string, kind: 'ours' | 'stock'): Side {
  let child: ChildProcess | null = null;
  let ended: Promise<never> = Promise.reject(new Error(`${name} is not open`));
  let service = { url: '', secretKey: '' };
  ended.catch(() => undefined);

  const heard = async (): Promise<LatencyServiceMessage> => {
    const [message] = await Promise.race([child ? once(child, 'message') : ended, ended]);
    return message as LatencyServiceMessage;
  };
  const commands = async () => {
    const answer = heard();
    child?.send('commands');
    const message = await answer;
    if (!('commands' in message)) throw new Error(`${name} did not report its commands`);
    return message.commands;
  };

  return {
    name,
    async open() {
      child = fork(SERVICE, [kind], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      ended = once(child, 'exit').then(([code]) => {
        throw new Error(`the process of ${name} ended with code ${code}`);
      });
      ended.catch(() => undefined);
      const message = await heard();
      if ('url' in message) service = message;
    },
    async run({ quick }) {
      const accepted: number[] = [];
      const downloaded: number[] = [];
      const invoices = quick ? 3 : 10;
      const before = await commands();
      for (let i = 0; i < invoices; i++) {
        const times = await oneInvoice(service);
        accepted.push(times.accepted);
        downloaded.push(times.downloaded);
      }
      return {
        latencies: { 'create → accepted': accepted, 'create → PDF downloaded': downloaded },
        counts: { 'store commands an invoice, polling included': ((await commands()) - before) / invoices },
      };
    },
    async close() {
      if (!child || child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

/** @returns milliseconds since the request was sent */
async function oneInvoice({ url, secretKey }: { url: string; secretKey: string }) {
  const headers = { Authorization: `Bearer ${secretKey}` };
  const start = performance.now();
  const created = await fetch(`${url}/v1/invoices`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(INVOICE),
  });
  if (created.status !== 201) throw new Error(`creation was answered ${created.status} ${await created.text()}`);
  const { id, client_secret } = (await created.json()) as { id: string; client_secret: string };
  await statusReached(`${url}/v1/invoices/${id}/stream`, client_secret, 'accepted');
  const accepted = performance.now() - start;
  const { pdf_url } = (await (await fetch(`${url}/v1/invoices/${id}`, { headers })).json()) as { pdf_url: string };
  const pdf = Buffer.from(await (await fetch(pdf_url)).arrayBuffer());
  const downloaded = performance.now() - start;
  if (pdf.subarray(0, 5).toString() !== '%PDF-') throw new Error(`${pdf_url} returned no PDF`);
  return { accepted, downloaded };
}

/** Reads an event stream until a message has the status. */
async function statusReached(url: string, token: string, status: string): Promise<void> {
  const { body } = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes(`"status":"${status}"`)) return;
  }
  throw new Error(`the stream ended before ${status}: ${text}`);
}
