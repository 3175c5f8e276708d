import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signatureHeaders, signingKey } from '../../../src/domain/webhook/signature.ts';
import { examplesRunBy } from '../../support/guide-examples.ts';

// The verification functions of docs/webhooks.md, exactly as they are there.

/**
 * Runs a language's function with `args`: the file of headers and secrets (alternating lines), and the file of the
 * body.
 */
const LANGUAGES = {
  js: {
    command: process.execPath,
    probe: ['--version'],
    files: (code: string) => ({
      'verify.mjs': code,
      'main.mjs': `import { readFileSync } from 'node:fs'; import { verify } from './verify.mjs';
const lines = readFileSync('cases.txt', 'utf8').split('\\n'); const body = readFileSync('body.json');
for (let i = 0; i + 1 < lines.length; i += 2) console.log(verify(lines[i], body, lines[i + 1]));`,
    }),
    run: ['main.mjs'],
  },
  python: {
    command: 'python3',
    probe: ['--version'],
    files: (code: string) => ({
      'main.py': `${code}
lines = open("cases.txt").read().split("\\n")
body = open("body.json", "rb").read()
for header, secret in zip(lines[0::2], lines[1::2]):
    print(str(verify(header, body, secret)).lower())`,
    }),
    run: ['main.py'],
  },
  php: {
    command: 'php',
    probe: ['--version'],
    files: (code: string) => ({
      'main.php': `<?php
${code}
$lines = explode("\\n", file_get_contents('cases.txt')); $body = file_get_contents('body.json');
for ($i = 0; $i + 1 < count($lines); $i += 2) echo verify($lines[$i], $body, $lines[$i + 1]) ? "true\\n" : "false\\n";`,
    }),
    run: ['main.php'],
  },
  java: {
    command: 'java',
    // Some machines have a Java runtime but no compiler.
    probe: ['--list-modules'],
    needs: 'jdk.compiler',
    files: (code: string) => {
      const [imports, body] = [code.slice(0, code.indexOf('final class')), code.slice(code.indexOf('final class'))];
      return {
        'Main.java': `${imports}import java.nio.file.*;
public class Main { public static void main(String[] args) throws Exception {
  String[] lines = Files.readString(Path.of("cases.txt")).split("\\n", -1); byte[] body = Files.readAllBytes(Path.of("body.json"));
  for (int i = 0; i + 1 < lines.length; i += 2) System.out.println(WebhookSignature.verify(lines[i], body, lines[i + 1]));
} }
${body}`,
      };
    },
    run: ['Main.java'],
  },
} as const;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snippets-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const former = `whsec_${randomBytes(32).toString('base64')}`;
const body = JSON.stringify({ id: 'evt_1', data: { name: 'Société à Fès, شكرا' } });

function signed(secondsAgo: number, secrets = [secret], text = body): string {
  const at = new Date(Date.now() - secondsAgo * 1000);
  return signatureHeaders({ eventId: 'evt_1', body: text, at }, secrets.map(signingKey))['Service-Signature'] ?? '';
}

/** Maximum age of a delivery, and how far its time may be in the future, in seconds. */
const TOLERANCE = 300;

interface Case {
  readonly name: string;
  readonly header: string;
  readonly secret: string;
  readonly genuine: boolean;
  /** Seconds between the header's time and the signing, if they decide the verdict. */
  readonly age: number;
}

/** Signs at the current time. */
function casesOfNow(): Case[] {
  const now = Math.floor(Date.now() / 1000);
  const rows: [name: string, header: string, secret: string, genuine: boolean, age?: number][] = [
    ['a genuine one', signed(0), secret, true],
    ['four minutes old', signed(240), secret, true, 240],
    ['four and a half minutes old', signed(270), secret, true, 270],
    ['a clock that is behind', signed(-270), secret, true, -270],
    ['while a secret is being rotated, by the new one', signed(0, [secret, former]), secret, true],
    ['while a secret is being rotated, by the former one', signed(0, [secret, former]), former, true],
    ['another secret', signed(0), former, false],
    ['another body', signed(0, [secret], `${body} `), secret, false],
    ['more than five minutes old', signed(320), secret, true, 320],
    ['from a future that is more than five minutes away', signed(-320), secret, true, -320],
    ['from a future that is more than six minutes away', signed(-365), secret, true, -365],
    ['a time that was changed', signed(100).replace(/t=\d+/, `t=${now}`), secret, false],
    ['an empty signature', `t=${now},v1=`, secret, false],
    ['no signature', `t=${now}`, secret, false],
    ['no time', signed(0).replace(/t=\d+,/, ''), secret, false],
    ['nonsense', 't=,v1=,=,,v1=zz', secret, false],
    ['nothing', '', secret, false],
  ];
  return rows.map(([name, header, key, genuine, age = 0]) => ({ name, header, secret: key, genuine, age }));
}

/** The verdict on a case that was checked within so many seconds of its signing; null if it depends on the moment. */
function verdictOn({ genuine, age }: Case, seconds: number): boolean | null {
  const [first, last] = [age, age + seconds].map((each) => genuine && Math.abs(each) <= TOLERANCE);
  return first === last ? (first as boolean) : null;
}

const examples = examplesRunBy('test/unit/webhook/snippets.test.ts');
const code = Object.fromEntries(examples.map(({ language, text }) => [language, text]));

it('there is one for each language', () => {
  expect(examples.map(({ language }) => language)).toEqual(['js', 'python', 'php', 'java']);
});

for (const [language, tool] of Object.entries(LANGUAGES)) {
  const probe = spawnSync(tool.command, [...tool.probe], { encoding: 'utf8' });
  const isThere = probe.status === 0 && (!('needs' in tool) || probe.stdout.includes(tool.needs));
  const name = `the function for ${language} tells genuine deliveries from others`;
  it.skipIf(!isThere)(isThere ? name : `${name} (skipped: ${tool.command} is not on this machine)`, async () => {
    const own = join(folder, language);
    await mkdir(own);
    const signedAt = performance.now();
    const cases = casesOfNow();
    const files = {
      ...tool.files(code[language] ?? ''),
      'cases.txt': cases.map(({ header, secret: key }) => `${header}\n${key}`).join('\n'),
      'body.json': body,
    };
    await Promise.all(Object.entries(files).map(([file, text]) => writeFile(join(own, file), text)));
    const { stdout } = await promisify(execFile)(tool.command, [...tool.run], { cwd: own });
    const seconds = Math.ceil((performance.now() - signedAt) / 1000) + 1;
    const verdicts = stdout.trim().split(/\r?\n/);
    expect(verdicts).toHaveLength(cases.length);
    cases.forEach((each, i) => {
      const due = verdictOn(each, seconds);
      if (due !== null) expect([each.name, verdicts[i]]).toEqual([each.name, `${due}`]);
    });
  });
}

it.skip('the function for csharp is not run: no test machine has .NET', () => undefined);
