import type { InvoiceIdentity } from '../../src/adapters/authority/mock/examine-invoice.ts';
import { checkKeyWarning, scenarioProblem, signatureProblem } from '../../src/adapters/authority/mock/findings.ts';
import { createThreads, type Threads } from '../../src/adapters/threads.ts';
import { createDocumentVerifier } from '../../src/adapters/xades/document-verifier.ts';
import type { Problem } from '../../src/domain/authority/ports.ts';
import { magicOf, type Scenario } from '../../src/domain/invoice/test-scenarios.ts';
import { givenUp } from '../../src/domain/verification/verification.ts';
import type { Content } from './examination-thread.ts';
import { skim } from './skim.ts';

/** The findings of the authority about a document. */
export interface Findings {
  readonly invoice: InvoiceIdentity | null;
  readonly scenario: Scenario | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export interface Examiner {
  /** @throws {Error} when the threads do not work */
  examine(document: Buffer): Promise<Findings>;
  close(): Promise<void>;
}

/** Verifies the signature, and examines the content as the mock authority does, on two threads. */
export function createExaminer(): Examiner {
  const verifier = createDocumentVerifier();
  const contents: Threads<Uint8Array, Content> = createThreads({
    filename: new URL('./examination-thread.ts', import.meta.url).href,
  });
  return {
    async examine(document) {
      const [signature, { invoice, fault }] = await Promise.all([
        verifier.verify(document).catch(givenUp),
        contents.run(document),
      ]);
      const scenario = scenarioOf(invoice);
      const problem = signature.valid ? (fault ?? problemOf(scenario, invoice)) : signatureProblem(signature.failed);
      return { invoice, scenario, problems: listOf(problem), warnings: warningsOf(invoice) };
    },
    async close() {
      await Promise.all([verifier.close(), contents.close()]);
    },
  };
}

/**
 * Creates an examiner that takes every document as valid. It reads only the parts for magic ICEs and numbers, without
 * parsing.
 */
export function createCarelessExaminer(): Examiner {
  return {
    async examine(document) {
      const invoice = skim(document);
      const scenario = scenarioOf(invoice);
      return { invoice, scenario, problems: listOf(problemOf(scenario, invoice)), warnings: [] };
    },
    close: async () => undefined,
  };
}

function scenarioOf(invoice: InvoiceIdentity | null): Scenario | null {
  return magicOf(invoice?.customerIce ?? null);
}

function problemOf(scenario: Scenario | null, invoice: InvoiceIdentity | null): Problem | null {
  return scenarioProblem(scenario, invoice?.customerIce ?? null, invoice?.kind ?? 'invoice');
}

function listOf(problem: Problem | null): Problem[] {
  return problem === null ? [] : [problem];
}

function warningsOf(invoice: InvoiceIdentity | null): Problem[] {
  const ice = invoice?.customerIce ?? '';
  return /^\d{15}$/.test(ice) && BigInt(ice) % 97n !== 0n ? [checkKeyWarning(ice, invoice?.kind ?? 'invoice')] : [];
}
