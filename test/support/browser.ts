import { existsSync } from 'node:fs';
import puppeteer, { type Browser } from 'puppeteer-core';

const CANDIDATES = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/google-chrome'];

/** The browser that tests of pages run in, or null where none is installed (Debian's package: chromium). */
export const BROWSER_PATH = CANDIDATES.find((path) => path !== undefined && existsSync(path)) ?? null;

/** Starts it without any traffic of its own. */
export function startBrowser(): Promise<Browser> {
  if (BROWSER_PATH === null) throw new Error('no browser is installed');
  const asRoot = process.getuid?.() === 0;
  return puppeteer.launch({
    executablePath: BROWSER_PATH,
    // Against what hangs: a loaded machine is no failure.
    timeout: 55_000,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...(asRoot ? ['--no-sandbox'] : []),
    ],
  });
}
