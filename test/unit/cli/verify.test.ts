import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { issue } from '../../../scripts/authority-simulator/certificates.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { trustedSigners } from '../../../src/app/verification.ts';
import type { CommandContext } from '../../../src/cli/command.ts';
import { readInput } from '../../../src/cli/files.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { verify } from '../../../src/cli/verify.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';
import { cleared } from '../xades/cleared.ts';
import { signedInvoice } from '../xades/identities.ts';

vi.setConfig({ testTimeout: 60_000 });

const root = issue('Racine', null);
const between = issue('Intermédiaire', root);
const signer = issue('Atlas', between, { ca: false });
const other = issue('Atlas', null, { ca: false });
const authority = issue('Authority', null, { ca: false });
let folder: string;
let signed: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verify-'));
  const certificateChain = [signer.certificate, between.certificate] as const;
  signed = (await signedInvoice({ privateKey: signer.privateKey, certificateChain }, sampleInvoice())).toString();
  const files = {
    'signed.xml': signed,
    'changed.xml': signed.replace('>123.45<', '>923.45<'),
    'large.xml': signed.replace('<cbc:UUID', `<a>${'x'.repeat(31_000_000)}</a><cbc:UUID`),
    'deep.xml': '<a>'.repeat(400_000),
    'cleared.xml': (await cleared(Buffer.from(signed), authority)).toString(),
    'authority.pem': String(authority.certificate),
    'both.pem': `${root.certificate}${authority.certificate}`,
    'root.pem': String(root.certificate),
    'signer.pem': String(signer.certificate),
    'other.pem': `${other.certificate}${issue('Racine', null).certificate}`,
    'no.pem': 'hello',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(...args: string[]) {
  const [printed, remarked]: string[][] = [[], []];
  const context = {
    terminal: {
      print: (text: string) => printed?.push(text),
      remark: (text: string) => remarked?.push(text),
      style: (_format: string, text: string) => text,
    },
    // Verified on this thread, to save starting one for each case.
    parts: { verification: async () => ({ verifyDocument: verifySignedDocument, trustedSigners }) },
  } as unknown as CommandContext;
  const typed = args.map((arg) => (/\.(xml|pem)$/.test(arg) ? join(folder, arg) : arg));
  const code = await runCommandLine(['verify', ...typed], [verify], context);
  return { code, out: printed?.join('\n') ?? '', err: remarked?.join('\n') ?? '' };
}

const fingerprint = signer.certificate.fingerprint256;

describe('exit code and text', () => {
  test.each<[string, string[], number, RegExp]>([
    ['no expected signer', [], 3, /^INTACT .*CN=Atlas.*The signer was not checked/s],
    ['the root', ['--trust', 'root.pem'], 0, /^VALID .*was issued under “CN=Racine” of/s],
    ['the signer itself', ['--trust', 'signer.pem'], 0, /^VALID .*certificate is in /s],
    ['a fingerprint', ['--fingerprint', fingerprint], 0, /^VALID .*the expected fingerprint/s],
    [
      'a fingerprint in another notation',
      ['--fingerprint', fingerprint.replaceAll(':', '').toLowerCase()],
      0,
      /^VALID/,
    ],
    ['both', ['--trust', 'root.pem', '--fingerprint', fingerprint], 0, /^VALID .*fingerprint.*Racine/s],
    [
      'namesakes',
      ['--trust', 'other.pem'],
      4,
      /^NOT TRUSTED .*Unchanged, but the signer is not trusted.*no trusted certificate/s,
    ],
    [
      'another fingerprint',
      ['--fingerprint', other.certificate.fingerprint256],
      4,
      /^NOT TRUSTED .*another fingerprint/s,
    ],
    ['one match of two', ['--trust', 'other.pem', '--fingerprint', fingerprint], 4, /^NOT TRUSTED .*not trusted/s],
  ])('compared with %s', async (_what, options, code, words) => {
    const ended = await run('signed.xml', ...options);
    expect(ended).toEqual({ code, out: expect.stringMatching(words), err: '' });
    expect(ended.out.startsWith('VALID')).toBe(code === 0);
  });

  test('a changed document is not valid, whoever signed', async () => {
    for (const options of [[], ['--trust', 'root.pem'], ['--fingerprint', fingerprint]]) {
      const { code, out } = await run('changed.xml', ...options);
      expect([code, out.slice(0, 9)]).toEqual([1, 'NOT VALID']);
    }
  });

  test('JSON', async () => {
    const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out);
    expect(await json('signed.xml')).toMatchObject({
      verdict: 'unchecked',
      valid: true,
      trusted: null,
      trust_reason: null,
    });
    expect(await json('signed.xml', '--trust', 'root.pem')).toMatchObject({
      verdict: 'valid',
      valid: true,
      trusted: true,
    });
    expect(await json('signed.xml', '--trust', 'other.pem')).toMatchObject({
      verdict: 'untrusted',
      valid: true,
      trusted: false,
      trust_reason: expect.stringContaining('no trusted certificate'),
    });
    expect(await json('changed.xml', '--trust', 'root.pem')).toMatchObject({
      verdict: 'invalid',
      valid: false,
      failed: 'digest',
    });
  });

  test('a cleared document is valid when its signer and the tax authority are both trusted', async () => {
    const ok = await run('cleared.xml', '--trust', 'both.pem');
    expect(ok).toMatchObject({ code: 0, out: expect.stringMatching(/^VALID.*cleared +as DGI-1 on 2026-11-22/s) });
    expect(ok.out).toMatch(/The signer's certificate was.*The tax authority's certificate is in/s);
    for (const file of ['root.pem', 'authority.pem'])
      expect(await run('cleared.xml', '--trust', file)).toMatchObject({ code: 4 });
    expect(await run('cleared.xml')).toMatchObject({ code: 3 });
    // Whose the clearance is, the fingerprint of the signer does not tell.
    expect(await run('cleared.xml', '--fingerprint', fingerprint)).toMatchObject({ code: 3 });
    const { out } = await run('cleared.xml', '--trust', 'both.pem', '--json');
    expect(JSON.parse(out)).toMatchObject({
      verdict: 'valid',
      clearance: { dgi_id: 'DGI-1', submission_id: 'inv_1', signer: { subject: 'CN=Authority' } },
    });
  });

  test.each<[string, string[], RegExp]>([
    ['31 MB', ['large.xml'], /too large: more than 8 MiB/],
    ['400,000 levels', ['deep.xml'], /was not checked\. The document is nested too deeply/],
    ['no file', ['none.xml'], /it does not exist/],
    ['a folder', ['.'], /it is a folder/],
    ['no certificates', ['signed.xml', '--trust', 'no.pem'], /no certificate in PEM format/],
    ['no certificates for a changed document', ['changed.xml', '--trust', 'no.pem'], /no certificate in PEM format/],
    ['no fingerprint', ['signed.xml', '--fingerprint', 'abc'], /64 digits/],
  ])('wrong input is not reported as an invalid document: %s', async (_what, args, reason) => {
    expect(await run(...args)).toEqual({ code: 2, out: '', err: expect.stringMatching(reason) });
  });

  test('the help names every exit code', async () => {
    expect((await run('--help')).out).toMatch(/0 valid.*1 not valid.*2 not checked.*3 intact.*4 not trusted/s);
  });
});

describe.skipIf(process.platform === 'win32')('an input that is not a regular file', () => {
  test('is read only up to the size limit when it is endless', async () => {
    await expect(readInput('/dev/zero', 1000)).rejects.toThrow(/\/dev\/zero cannot be read: it is too large/);
    expect(await readInput('/dev/null')).toHaveLength(0);
  });

  test('a pipe is read to its end, with a time limit for silence', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reading = readInput(pipe);
    const writer = spawn('sh', ['-c', `(printf a; sleep 0.2; printf b) > ${pipe}`]);
    expect((await reading).toString()).toBe('ab');
    writer.kill();
    await expect(readInput(pipe, 10, 100)).rejects.toThrow(/it sent nothing for 0.1 s/);
    const held = await open(pipe, 'r+');
    await expect(readInput(pipe, 10, 100)).rejects.toThrow(/it sent nothing/);
    await held.close();
  });
});
