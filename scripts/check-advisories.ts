import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How long npm may take, milliseconds. */
const LIMIT_MS = 60_000;

/** An advisory that concerns a locked package. */
export interface Advisory {
  /** Such as GHSA-xxxx-xxxx-xxxx. */
  readonly id: string;
  readonly package: string;
  readonly severity: string;
  readonly title: string;
  /** Whether every place of the package in the tree is for development only. */
  readonly devOnly: boolean;
}

/** An entry of scripts/check/accepted-advisories.json. */
export interface Accepted {
  readonly id: string;
  readonly package: string;
  /** Why it does not concern this service, or what keeps it from doing harm. */
  readonly reason: string;
  /** The last day on which it is accepted, `2026-12-31`. Then a person must decide again. */
  readonly until: string;
}

export type Audit = { readonly advisories: readonly Advisory[] } | { readonly unanswered: string };

/**
 * Asks the registry of npm's configuration for advisories about the locked packages of a folder.
 * @param options further options of npm
 */
export async function audit(folder: string, options: readonly string[] = []): Promise<Audit> {
  const args = ['audit', '--json', '--package-lock-only', '--fetch-retries=1', '--fetch-timeout=20000', ...options];
  const output = await new Promise<string>((resolve) => {
    const child = spawn('npm', args, { cwd: folder, timeout: LIMIT_MS, shell: process.platform === 'win32' });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.stderr.resume();
    child.on('error', () => resolve(''));
    child.on('close', () => resolve(text));
  });
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock;
  return readAudit(output, lock);
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** The output of `npm audit --json`. */
interface Report {
  readonly message?: string;
  readonly error?: { readonly summary?: string; readonly code?: string };
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly nodes: readonly string[]; readonly via: readonly (string | Via)[] }>
  >;
}

interface Via {
  readonly name: string;
  readonly title: string;
  readonly url: string;
  readonly severity: string;
}

function readAudit(output: string, lock: Lock): Audit {
  let report: Report;
  try {
    report = JSON.parse(output) as Report;
  } catch {
    return { unanswered: 'npm gave no answer in time' };
  }
  const { vulnerabilities, message, error } = report;
  if (!vulnerabilities) return { unanswered: message ?? error?.summary ?? error?.code ?? 'unknown' };
  const advisories = Object.values(vulnerabilities).flatMap(({ nodes, via }) => {
    const devOnly = nodes.every((path) => lock.packages[path]?.dev === true);
    return via.flatMap((each) =>
      // A text names another package, which has its own entry.
      typeof each === 'string'
        ? []
        : [
            {
              id: each.url.replace(/^.*\//, ''),
              package: each.name,
              severity: each.severity,
              title: each.title,
              devOnly,
            },
          ],
    );
  });
  return { advisories };
}

/**
 * @param today `2026-11-24`
 * @returns `problems`, which fail the check, and `notes`, which do not
 */
export function judge(
  result: Audit,
  accepted: readonly Accepted[],
  today: string,
): { readonly problems: string[]; readonly notes: string[] } {
  const problems: string[] = [];
  const notes: string[] = [];
  for (const { id, package: name, reason, until } of accepted) {
    if (reason.trim().length < 20) problems.push(`${id} of ${name} is accepted without a reason`);
    if (!/^\d{4}-\d\d-\d\d$/.test(until) || until < today)
      problems.push(`${id} of ${name} was accepted until ${until}: look at it again`);
  }
  if ('unanswered' in result) {
    notes.push(`warning: advisories were not checked, because the registry does not answer: ${result.unanswered}`);
    return { problems, notes };
  }
  const { advisories } = result;
  const isAccepted = ({ id, package: name }: Pick<Advisory, 'id' | 'package'>) =>
    accepted.some((each) => each.id === id && each.package === name);
  for (const advisory of advisories) {
    const line = `${advisory.id} (${advisory.severity}) of ${advisory.package}: ${advisory.title}`;
    if (isAccepted(advisory)) notes.push(`accepted: ${line}`);
    else if (advisory.devOnly) notes.push(`warning: for development only: ${line}`);
    else problems.push(line);
  }
  for (const { id, package: name } of accepted)
    if (!advisories.some((each) => each.id === id && each.package === name))
      notes.push(`warning: ${id} of ${name} is accepted and concerns nothing any more`);
  if (advisories.length === 0) notes.push('no advisory concerns the locked packages');
  return { problems, notes };
}

if (import.meta.main) {
  const folder = fileURLToPath(new URL('..', import.meta.url));
  const file = new URL('check/accepted-advisories.json', import.meta.url);
  const accepted = JSON.parse(readFileSync(file, 'utf8')) as Accepted[];
  const { problems, notes } = judge(await audit(folder), accepted, new Date().toISOString().slice(0, 10));
  for (const line of [...notes, ...problems]) console.log(line);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
