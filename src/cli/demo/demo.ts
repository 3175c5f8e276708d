import { basename, join, relative } from 'node:path';
import type { ValidSignature } from '../../domain/verification/verification.ts';
import type { ParsedArguments } from '../command.ts';
import { type Command, type CommandContext, INTERRUPTED, UsageError } from '../command.ts';
import { interruptible } from '../interruption.ts';
import { report, type Signer } from '../verify.ts';
import { FROM_ENVIRONMENT } from '../webhooks/service.ts';
import { type Access, createInvoice, followStatus } from './client.ts';
import { createDisplay, type Display } from './display.ts';
import { fetchDocuments } from './documents.ts';
import { deviationOf, newProgress, type Progress, recordStatus } from './progress.ts';
import { remarks } from './render.ts';
import { readSamples } from './samples.ts';
import { givenTarget, openTarget } from './target.ts';

/** Time limit for one invoice, milliseconds. */
const TIME_LIMIT_MS = 120_000;

export const demo: Command = {
  name: 'demo',
  summary: 'Sends the sample invoices and shows the progress of each',
  positionals: [],
  options: {
    url: {
      value: 'URL',
      description: 'Address of the service; default: the service of this configuration, or a temporary one',
    },
    key: { value: 'KEY', description: `Secret test key of that service; ${FROM_ENVIRONMENT}` },
  },
  details: `The samples are in scripts/samples. Without --url they are sent to the service that runs on DATA_DIR (or MONGODB_URL) at HOST:PORT,
with a key that the demo creates and revokes at the end. If no service runs, the demo starts one. The documents of an accepted
invoice are stored in DATA_DIR/demo. Exit code 0: every invoice ended as its sample expects.`,
  async run(input, context) {
    return interruptible(async (signal) => {
      try {
        return await runDemo(input, context, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        context.terminal.remark('Interrupted.');
        return INTERRUPTED;
      }
    });
  },
};

async function runDemo(input: ParsedArguments, context: CommandContext, signal: AbortSignal): Promise<number> {
  const { terminal } = context;
  const config = context.config();
  const folder = join(config.dataDir, 'demo');
  const url = input.find('url');
  // Without --url, FATOURA_KEY is ignored: it may belong to another service.
  const key = input.find('key') ?? (url === null ? null : context.environmentKey());
  if ((url === null) !== (key === null))
    throw new UsageError('--url and --key (or FATOURA_KEY) must be given together');
  const all = (await readSamples()).map(newProgress);
  const target = url !== null && key !== null ? givenTarget(url, key) : await openTarget(config, context, signal);
  try {
    terminal.print(`Sending ${all.length} invoices to ${target.description}\n`);
    await sendAll(target.access, all, context, signal);
    for (const remark of remarks(all, terminal.width(), terminal.style)) terminal.print(remark);
    const documentsAreGood = await showDocuments(target.access, all, folder, url === null, context, signal);
    return documentsAreGood && all.every((progress) => deviationOf(progress) === null) ? 0 : 1;
  } finally {
    await target.close();
  }
}

/** Sends the invoices one after the other, and follows each until all have ended. */
async function sendAll(
  access: Access,
  all: readonly Progress[],
  { terminal }: CommandContext,
  signal: AbortSignal,
): Promise<void> {
  const display = createDisplay(all, terminal);
  try {
    const followed: Promise<void>[] = [];
    for (const progress of all) {
      const sent = Promise.withResolvers<void>();
      followed.push(followOne(access, progress, display, sent.resolve, signal).finally(sent.resolve));
      await sent.promise;
    }
    await Promise.all(followed);
    signal.throwIfAborted();
  } finally {
    display.close();
  }
  terminal.print('');
}

/** Sends and follows one invoice. Never throws: an error is recorded as the invoice's failure. */
async function followOne(
  access: Access,
  progress: Progress,
  display: Display,
  sent: () => void,
  interruption: AbortSignal,
): Promise<void> {
  const timeLimit = AbortSignal.timeout(TIME_LIMIT_MS);
  const signal = AbortSignal.any([interruption, timeLimit]);
  try {
    progress.sentAt = performance.now();
    const invoice = await createInvoice(access, progress.sample.request, signal);
    progress.id = invoice.id;
    recordStatus(progress, { status: invoice.status }, performance.now());
    display.changed(progress, invoice.status);
    sent();
    for await (const change of followStatus(access.url, invoice, signal)) {
      recordStatus(progress, change, performance.now());
      display.changed(progress, change.status);
    }
  } catch (error) {
    progress.failure = timeLimit.aborted ? `not decided within ${TIME_LIMIT_MS / 1000} s` : reasonOf(error);
    if (!interruption.aborted) display.changed(progress, 'failed');
  }
  progress.ended = true;
}

/**
 * Downloads and verifies the documents of the first accepted invoice.
 * @param ofThisService whether the service uses this configuration, so that its certificate is known
 * @returns whether there is an accepted invoice with a PDF and a valid signature
 */
async function showDocuments(
  access: Access,
  all: readonly Progress[],
  folder: string,
  ofThisService: boolean,
  context: CommandContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { terminal, parts } = context;
  const { verifyDocument } = await parts.verification();
  const accepted = all.find(({ steps }) => steps.at(-1)?.status === 'accepted');
  if (!accepted?.id) {
    terminal.print('No invoice was accepted, so there are no documents.');
    return false;
  }
  try {
    const { xmlFile, pdfFile, verification } = await fetchDocuments(
      access,
      accepted.id,
      folder,
      verifyDocument,
      signal,
    );
    const signer = verification.valid && ofThisService ? await checkSigner(verification, context) : 'not checked';
    terminal.print(`\n${report(verification, signer, basename(xmlFile), terminal.style)}\n`);
    terminal.print(`XML  ${shortest(xmlFile)}\nPDF  ${shortest(pdfFile)}`);
    return verification.valid;
  } catch (error) {
    signal.throwIfAborted();
    terminal.print(`${terminal.style('red', '✘')} ${accepted.sample.title}: ${reasonOf(error)}`);
    return false;
  }
}

/**
 * Checks whether the certificate is the configured one. Returns 'not checked' for another one, or when the configured
 * one cannot be loaded.
 */
async function checkSigner({ certificate }: ValidSignature, { config, parts }: CommandContext): Promise<Signer> {
  const { signingCertificate } = await parts.diagnosis();
  const own = await signingCertificate(config()).catch(() => null);
  return own?.fingerprint256.replaceAll(':', '').toLowerCase() === certificate.fingerprint
    ? { trusted: true, reason: 'Signed by this service, with its configured certificate.' }
    : 'not checked';
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  // fetch reports the reason of a failure only in `cause`.
  return message === 'fetch failed' && cause instanceof Error
    ? `the service cannot be reached: ${cause.message}`
    : message;
}

function shortest(file: string): string {
  const here = relative(process.cwd(), file);
  return here.startsWith('..') ? file : here;
}
