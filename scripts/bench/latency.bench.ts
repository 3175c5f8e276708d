import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Benchmark, Side } from './harness.ts';
import type { LatencyServiceMessage } from './latency-service.ts';
import { createInvoice, type ServiceAddress, statusReached } from './watched-invoice.ts';

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
async function oneInvoice(service: ServiceAddress) {
  const start = performance.now();
  const created = await createInvoice(service);
  await statusReached(service, created, 'accepted');
  const accepted = performance.now() - start;
  const headers = { Authorization: `Bearer ${service.secretKey}` };
  const { pdf_url } = (await (await fetch(`${service.url}/v1/invoices/${created.id}`, { headers })).json()) as {
    pdf_url: string;
  };
  const pdf = Buffer.from(await (await fetch(pdf_url)).arrayBuffer());
  const downloaded = performance.now() - start;
  if (pdf.subarray(0, 5).toString() !== '%PDF-') throw new Error(`${pdf_url} returned no PDF`);
  return { accepted, downloaded };
}
