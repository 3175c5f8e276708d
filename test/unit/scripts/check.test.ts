import { expect, it } from 'vitest';
import { runChecks } from '../../../scripts/check.ts';

async function run(...codes: string[]): Promise<{ ok: boolean; output: string }> {
  let output = '';
  const checks = codes.map((code, i) => ({ name: `check ${i}`, args: ['-e', code] }));
  const ok = await runChecks(checks, import.meta.dirname, (text) => {
    output += text;
  });
  return { ok, output };
}

it('passes when every check passes, without their output', async () => {
  const { ok, output } = await run('console.log("fine")', '');
  expect(ok).toBe(true);
  expect(output.split('\n').toSorted()).toEqual([
    '',
    expect.stringMatching(/^ok {4}check 0 {2}\d+\.\d s$/),
    expect.stringMatching(/^ok {4}check 1 {2}\d+\.\d s$/),
  ]);
});

it('fails when one fails, and shows its output', async () => {
  const { ok, output } = await run('', 'console.log("out"); console.error("err"); process.exitCode = 3');
  expect(ok).toBe(false);
  expect(output).toMatch(/^ok {4}check 0 /m);
  expect(output).toMatch(/^FAIL {2}check 1 {2}\d+\.\d s\n {6}/m);
  expect(output.split('\n')).toEqual(expect.arrayContaining(['      out', '      err']));
});

it('reports how a check without output ended', async () => {
  expect((await run('process.exit(7)')).output).toContain('ended with code 7');
  expect((await run('process.kill(process.pid, "SIGKILL")')).output).toContain('ended with SIGKILL');
});
