import { randomUUID, type X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { OpenAdministration } from '../app/administration.ts';
import type { LiveNeed, MailDiagnosis, RendererDiagnosis } from '../app/diagnosis.ts';
import type { OpenStore } from '../app/store.ts';
import type { Config } from '../config.ts';
import { type ConnectionSettings, isLowLimit, mostConnections } from '../domain/connections.ts';
import { DAY_MS } from '../domain/durations.ts';
import { moroccanDate } from '../domain/morocco/time.ts';
import { reasonOf } from './files.ts';

/** The result of one check. Only `fails` prevents the service from working. */
export interface Finding {
  readonly subject: string;
  readonly state: 'works' | 'warns' | 'fails';
  readonly found: string;
  /** The action that the operator should take. */
  readonly advice?: string;
}

const LOW_DISK_BYTES = 1024 ** 3;
export const EXPIRY_WARNING_DAYS = 30;
/** A date before this version was written. A clock that shows an earlier time is wrong. */
const EARLIEST_MS = Date.UTC(2026, 10, 1);
export const CLOCK_WARNING_MS = 5000;
const CLOCK_FAILURE_MS = 300_000;
const SECRET_FILES = ['master.key', 'signing-test-identity.pem'];

export function checkNode(version: string): Finding {
  const subject = 'Node.js';
  if (Number.parseInt(version, 10) >= 24) return { subject, state: 'works', found: version };
  return {
    subject,
    state: 'fails',
    found: `${version}, but 24 or newer is needed`,
    advice: 'Use the npm scripts (npm start, npm run -s cli): they run the Node.js that npm ci installs.',
  };
}

/** Checks the limit of open files. @param limit how many files the system lets this process open; null: unknown */
export function checkOpenFiles(limit: number | null, settings: ConnectionSettings, behindProxy: boolean): Finding {
  const subject = 'open files';
  if (limit === null) return { subject, state: 'works', found: 'no limit is known' };
  const count = (number: number) => number.toLocaleString('en');
  const { total } = mostConnections(limit, settings, behindProxy);
  const found = `at most ${count(limit)}, sockets included; at most ${count(total)} connections of clients`;
  if (!isLowLimit(limit, settings)) return { subject, state: 'works', found };
  const advice =
    'Raise the limit: LimitNOFILE=65536 in the systemd unit, ulimits: nofile in compose, or ulimit -n. More clients at the same time get 503.';
  return { subject, state: 'warns', found, advice };
}

/**
 * Checks that the folder is writable, without leaving anything behind. If it does not exist, its nearest existing
 * parent is checked.
 */
export async function checkDataFolder(dataDir: string): Promise<Finding[]> {
  const subject = 'data folder';
  const folder = resolve(dataDir);
  const present = nearestPresent(folder);
  try {
    const probe = join(present, `doctor-${randomUUID()}`);
    await writeFile(probe, 'x', { flush: true });
    await rm(probe);
  } catch (error) {
    return [
      {
        subject,
        state: 'fails',
        found: `${folder} is not writable: ${reasonOf(error)}`,
        advice: 'Make the folder writable for this user, or set DATA_DIR to another folder.',
      },
    ];
  }
  const { bavail, bsize } = await statfs(present);
  const free = bavail * bsize;
  const made = present === folder ? '' : ', created by the first start';
  const found = `${folder}${made}, ${gigabytes(free)} free`;
  const findings: Finding[] = [
    free < LOW_DISK_BYTES
      ? { subject, state: 'warns', found, advice: 'Free disk space: documents and the database grow in this folder.' }
      : { subject, state: 'works', found },
  ];
  for (const name of SECRET_FILES) {
    const file = join(folder, name);
    const mode = (await stat(file).catch(() => null))?.mode ?? 0;
    if (process.platform === 'win32' || (mode & 0o077) === 0) continue;
    findings.push({
      subject: 'secrets',
      state: 'warns',
      found: `other users of this machine can read ${file}`,
      advice: `chmod 600 ${file}`,
    });
  }
  return findings;
}

/**
 * Checks that the store can be opened and answers.
 * @returns kind: the kind of store, null when it cannot be opened. clock: milliseconds by which this machine's clock is
 * ahead of the store's, null when the store has no clock of its own
 */
export async function checkStore(
  config: Config,
  open: (config: Config) => Promise<OpenAdministration>,
): Promise<{ finding: Finding; kind: OpenStore['kind'] | null; clock: number | null }> {
  const subject = 'store';
  let administration: OpenAdministration;
  try {
    administration = await open(config);
  } catch (error) {
    // The message says what to do.
    return { finding: { subject, state: 'fails', found: oneLine(error) }, kind: null, clock: null };
  }
  const { db, kind } = administration.store;
  try {
    const start = performance.now();
    const hello = await db.command({ hello: 1 });
    const milliseconds = performance.now() - start;
    const name = {
      server: `MongoDB server, database ${db.databaseName}`,
      'own engine': 'embedded, not in use by another process',
      'running engine': 'embedded, served by a running process',
    }[kind];
    const found = `${name}; answers in ${milliseconds.toFixed(1)} ms`;
    const clock = kind === 'server' ? Date.now() - milliseconds / 2 - (hello.localTime as Date).getTime() : null;
    // Only replica sets and sharded clusters have change streams; this is a standalone server.
    if (hello.setName === undefined && hello.msg !== 'isdbgrid') {
      const advice = 'Run it as a replica set, which may have one member: mongod --replSet rs0, then rs.initiate().';
      return { finding: { subject, state: 'fails', found: `${name} is not a replica set`, advice }, kind, clock };
    }
    return { finding: { subject, state: 'works', found }, kind, clock };
  } catch (error) {
    const advice = 'Check that this user may read and write the database.';
    return { finding: { subject, state: 'fails', found: oneLine(error), advice }, kind, clock: null };
  } finally {
    await administration.close();
  }
}

export async function checkMasterKey(diagnose: () => Promise<void>): Promise<Finding> {
  const subject = 'master key';
  try {
    await diagnose();
    return { subject, state: 'works', found: 'matches the data' };
  } catch (error) {
    return { subject, state: 'fails', found: oneLine(error) };
  }
}

/**
 * Checks the signing certificate.
 * @param need which live invoices and keys need more than the generated certificate; null: none
 */
export async function checkCertificate(
  load: () => Promise<X509Certificate>,
  need: LiveNeed | null,
  now: Date,
): Promise<{ finding: Finding; validFrom: Date | null }> {
  const subject = 'certificate';
  let certificate: X509Certificate;
  try {
    certificate = await load();
  } catch (error) {
    const advice = 'Restore the file from a backup, or move it away to get a new test certificate.';
    return { finding: { subject, state: 'fails', found: oneLine(error), advice }, validFrom: null };
  }
  const { validFromDate: validFrom, validToDate: validTo } = certificate;
  const days = Math.floor((validTo.getTime() - now.getTime()) / DAY_MS);
  const who = `${certificate.subject.replaceAll('\n', ', ')}, until ${moroccanDate(validTo)}`;
  const advice = 'Have a new certificate issued and install it.';
  if (days < 0) return { finding: { subject, state: 'fails', found: `expired: ${who}`, advice }, validFrom };
  const found = `${who} (${days} days left)`;
  if (need !== null) {
    const settings: Finding = {
      subject,
      state: 'fails',
      found: `${found}: it cannot sign live invoices, and the data has ${needText(need)}`,
      advice:
        'Set SIGNING_P12, SIGNING_PKCS11 or SIGNING_TENANTS as they were, and put back the files that they name: live invoices wait until then, and new ones are refused.',
    };
    return { finding: settings, validFrom };
  }
  if (days < EXPIRY_WARNING_DAYS) return { finding: { subject, state: 'warns', found, advice }, validFrom };
  return { finding: { subject, state: 'works', found }, validFrom };
}

/**
 * Checks the clock against the store's clock and against dates that must be in the past.
 * @param known.store milliseconds by which this clock is ahead of the store's
 * @param known.validFrom start of the signing certificate's validity
 */
export function checkClock(now: Date, known: { store: number | null; validFrom: Date | null }): Finding {
  const subject = 'clock';
  const advice = 'Set the clock, preferably by NTP: timedatectl set-ntp true.';
  const time = `${now.toISOString().slice(0, 19)}Z`;
  const since = Math.max(EARLIEST_MS, known.validFrom?.getTime() ?? 0);
  if (now.getTime() < since) {
    const past = new Date(since).toISOString().slice(0, 10);
    return { subject, state: 'fails', found: `${time} cannot be right: it is before ${past}`, advice };
  }
  const apart = Math.abs(known.store ?? 0);
  if (apart > CLOCK_WARNING_MS) {
    const found = `${time} is ${(apart / 1000).toFixed(0)} s ${(known.store ?? 0) > 0 ? 'ahead of' : 'behind'} the store's clock`;
    return { subject, state: apart > CLOCK_FAILURE_MS ? 'fails' : 'warns', found, advice };
  }
  const agrees = known.store === null ? '' : ', in agreement with the store';
  return { subject, state: 'works', found: `${time}${agrees}` };
}

/**
 * Checks the PDF renderer. Without a browser invoices are still accepted and their PDFs rendered later, so a failure is
 * a warning.
 */
export async function checkRenderer(diagnose: () => Promise<RendererDiagnosis>): Promise<Finding> {
  const subject = 'PDF';
  const diagnosis = await diagnose();
  if (!diagnosis.works) return { subject, state: 'warns', found: 'no browser starts', advice: diagnosis.advice };
  const { version, executable, milliseconds, sandboxed } = diagnosis;
  const sandbox = sandboxed ? '' : ', without its sandbox';
  return { subject, state: 'works', found: `${version}${sandbox}, prints a page in ${milliseconds} ms; ${executable}` };
}

/** Checks the mail server. Mail never delays an invoice, so a failure is a warning. */
export async function checkMail(diagnose: () => Promise<MailDiagnosis>): Promise<Finding> {
  const subject = 'mail';
  const { server, outbox, trouble } = await diagnose();
  if (server === null) return { subject, state: 'works', found: `SMTP_URL is not set: mails are written to ${outbox}` };
  if (trouble === null) return { subject, state: 'works', found: `${server} accepts mails` };
  return {
    subject,
    state: 'warns',
    found: `${server} does not accept mails: ${oneLine(trouble)}`,
    advice: 'Correct SMTP_URL or the cause that the server reports; mails are retried for four days.',
  };
}

/** Formats the need: `3 unfinished live invoices and 1 tenant with valid live keys`. */
export function needText({ waiting, tenants }: LiveNeed): string {
  const counted = (count: number, one: string, many: string) =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  return [
    ...counted(waiting, 'unfinished live invoice', 'unfinished live invoices'),
    ...counted(tenants, 'tenant with valid live keys', 'tenants with valid live keys'),
  ].join(' and ');
}

/** Returns the path if it exists, otherwise its nearest existing parent folder. */
function nearestPresent(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestPresent(dirname(path));
}

export function oneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().replaceAll(/\.?\s*\n\s*/g, '; ');
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}
