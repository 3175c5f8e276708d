import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { createInvoiceWriter } from '../../src/adapters/ubl/invoice-writer.ts';
import { unsignedDocument, writeInvoice } from '../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../src/adapters/xades/document-signer.ts';
import { legalInvoice } from '../../src/domain/invoice/legal-invoice.ts';
import type { LegalInvoice } from '../../src/domain/invoice/ports.ts';
import { benchIdentities, SIGNING_TIME, storedInvoice } from './documents-samples.ts';
import type { Benchmark, Side } from './harness.ts';
import { signWithXadesjs } from './xadesjs-signer.ts';

const IDENTITY = benchIdentities()['P-256'];
const STORED = storedInvoice(1000);
const signer = createDocumentSigner(softwareKey(IDENTITY));
const writer = createInvoiceWriter();

/**
 * The longest time that the event loop is blocked while an invoice of 1,000 lines is written, checked, digested and
 * signed.
 */
export const benchmark: Benchmark = {
  name: 'documents-loop',
  about: 'the longest hold of the event loop while an invoice of 1,000 lines is written and signed',
  sides: [
    side(
      'ours',
      10,
      async (invoice) => signer.sign(await writer.write(invoice), SIGNING_TIME),
      () => writer.close(),
    ),
    side('the same on the event loop', 10, async (invoice) =>
      signer.sign(unsignedDocument(writeInvoice(invoice)), SIGNING_TIME),
    ),
    side('xadesjs', 1, (invoice) => signWithXadesjs(writeInvoice(invoice).xml, IDENTITY, 1)),
  ],
  answers: 'incomparable',
};

function side(
  name: string,
  invoices: number,
  make: (invoice: LegalInvoice) => Promise<Uint8Array>,
  close: () => Promise<void> = async () => {},
): Side {
  return {
    name,
    async run() {
      const holds: Hold[] = [];
      const start = performance.now();
      for (let i = 0; i < invoices; i++) {
        holds.push(await longestHold(() => make(legalInvoice(STORED, '2026-000123'))));
      }
      const milliseconds = (performance.now() - start) / invoices;
      return {
        counts: {
          'longest hold, ms': Math.max(...holds.map(({ elapsed }) => elapsed)),
          'longest hold, ms of computing': Math.max(...holds.map(({ computing }) => computing)),
          'an invoice takes, ms': milliseconds,
        },
      };
    },
    close,
  };
}

/**
 * Milliseconds of wall time and of CPU time. On an idle machine they are equal; on a busy one the wall time includes
 * other work.
 */
interface Hold {
  readonly elapsed: number;
  readonly computing: number;
}

/** Measures the longest time between two turns of the event loop while `work` runs. */
async function longestHold(work: () => Promise<unknown>): Promise<Hold> {
  const longest = { elapsed: 0, computing: 0 };
  let last = moment();
  let running = true;
  const turn = () => {
    const now = moment();
    longest.elapsed = Math.max(longest.elapsed, now.elapsed - last.elapsed);
    longest.computing = Math.max(longest.computing, now.computing - last.computing);
    last = now;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  turn();
  running = false;
  return longest;
}

function moment(): Hold {
  const { user, system } = process.threadCpuUsage();
  return { elapsed: performance.now(), computing: (user + system) / 1000 };
}
