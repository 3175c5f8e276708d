import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bundleFitsMachine, unpackChromium } from '../../../src/adapters/pdf/chromium-bundle.ts';
import { launchChromium } from '../../../src/adapters/pdf/chromium-launcher.ts';
import { packagesLoadedBy } from '../../support/loaded-packages.ts';
import { CHROMIUM_CACHE } from './support.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fatoura-launch-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** The npm package's Chromium behind a shell script that simulates the behaviour of a machine. */
async function wrapped(script: string): Promise<string> {
  const { executable, libraries } = await unpackChromium(CHROMIUM_CACHE);
  const path = join(folder, 'browser');
  // A minimal machine lacks libraries that the bundle contains.
  const start = `LD_LIBRARY_PATH=${libraries} exec ${executable} "$@"`;
  await writeFile(path, `#!/bin/sh\n${script}\n${start}\n`, { mode: 0o700 });
  return path;
}

function asOrdinaryUser(): void {
  vi.spyOn(process as { getuid(): number }, 'getuid').mockReturnValue(1_000);
}

describe.skipIf(!bundleFitsMachine())('launchChromium', () => {
  test('starts without the sandbox only when the machine does not allow one, and logs it', async () => {
    const warnings: string[] = [];
    const log = { info() {}, warn: (_: object, message: string) => void warnings.push(message) };
    const refusing = `case " $* " in *" --no-sandbox "*) ;; *) echo 'No usable sandbox! Update your kernel' >&2; exit 1;; esac`;
    const executablePath = await wrapped(refusing);
    asOrdinaryUser();
    const chromium = await launchChromium({ executablePath, cacheDir: folder, log });
    await chromium.close();
    expect(chromium.sandboxed).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('runs without its sandbox')]);
  });

  test.skipIf(process.platform !== 'linux' || spawnSync('setpriv', ['--version']).error !== undefined)(
    'runs every process and thread of the browser, and its autogroup, at low priority',
    async () => {
      const { executable, libraries } = await unpackChromium(CHROMIUM_CACHE);
      const executablePath = join(folder, 'browser');
      // As an ordinary user, and in a container: a process with CAP_SYS_NICE may raise its own priority, and Chromium does.
      const start = `LD_LIBRARY_PATH=${libraries} exec setpriv --inh-caps=-sys_nice --bounding-set=-sys_nice ${executable} "$@"`;
      await writeFile(executablePath, `#!/bin/sh\n${start}\n`, { mode: 0o700 });
      const chromium = await launchChromium({ executablePath, cacheDir: folder });
      try {
        const pages = await Promise.all([chromium.browser.newPage(), chromium.browser.newPage()]);
        await Promise.all(pages.map((page) => page.setContent('<p>text')));
        const own = spawnSync('ps', ['-L', '-g', String(chromium.pid), '-o', 'pid=,ni=']).stdout.toString();
        const threads = own
          .trim()
          .split('\n')
          .map((each) => each.trim().split(/ +/).map(Number) as [number, number]);
        expect(new Set(threads.map(([pid]) => pid)).size).toBeGreaterThan(2);
        expect(threads.filter(([, nice]) => nice < 10)).toEqual([]);
        const autogroup = await readFile(`/proc/${chromium.pid}/autogroup`, 'utf8').catch(() => 'nice 10');
        expect(autogroup).toContain('nice 10');
      } finally {
        await chromium.close();
      }
    },
  );

  test('keeps the sandbox after any other error', async () => {
    const executablePath = await wrapped(
      `case " $* " in *" --no-sandbox "*) touch ${folder}/given-up;; esac\necho 'no space' >&2; exit 1`,
    );
    asOrdinaryUser();
    await expect(launchChromium({ executablePath, cacheDir: folder })).rejects.toThrow(/no space/);
    await expect(readFile(join(folder, 'given-up'))).rejects.toThrow();
  });

  test('passes no environment of the service to the browser', async () => {
    vi.stubEnv('MASTER_KEY', 'the secret');
    const executablePath = await wrapped(`env > ${folder}/env; echo "$@" > ${folder}/arguments`);
    const chromium = await launchChromium({ executablePath, cacheDir: folder });
    await chromium.close();
    expect(await readFile(join(folder, 'env'), 'utf8')).not.toMatch(/MASTER_KEY|the secret/);
    const given = await readFile(join(folder, 'arguments'), 'utf8');
    expect(given).toContain('--remote-debugging-pipe');
    expect(given).not.toMatch(/remote-debugging-port|disable-web-security/);
  });

  test('removes the profile of a browser that needs one', async () => {
    const executablePath = await wrapped(`for each in "$@"; do echo "$each" >> ${folder}/arguments; done`);
    const chromium = await launchChromium({ executablePath, cacheDir: folder });
    const given = await readFile(join(folder, 'arguments'), 'utf8');
    const profile = /--user-data-dir=(.*)/.exec(given)![1]!;
    await chromium.close();
    await vi.waitFor(() => expect(readFile(profile)).rejects.toMatchObject({ code: 'ENOENT' }), 50_000);
  });
});

test('the driver is not loaded for a browser that is missing or not executable', async () => {
  const plain = join(folder, 'plain');
  await writeFile(plain, '', { mode: 0o600 });
  for (const [executablePath, code] of [
    [join(folder, 'none'), 'ENOENT'],
    [plain, 'EACCES'],
  ] as const) {
    const launching = launchChromium({ executablePath, cacheDir: folder });
    await expect(launching).rejects.toThrow(new RegExp(`CHROMIUM_PATH does not start.*${code}`));
  }
  const launcher = import.meta.resolve('../../../src/adapters/pdf/chromium-launcher.ts');
  const options = JSON.stringify({ executablePath: plain, cacheDir: folder });
  const loaded = await packagesLoadedBy(
    `await (await import('${launcher}')).launchChromium(${options}).catch(() => undefined);`,
  );
  expect(loaded).not.toContain('puppeteer-core');
});
