import { existsSync } from 'node:fs';
import puppeteer, { type Browser } from 'puppeteer-core';

const CANDIDATES = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/google-chrome'];

/** The browser for tests of web pages, or null when none is installed (Debian package: chromium). */
export const BROWSER_PATH = CANDIDATES.find((path) => path !== undefined && existsSync(path)) ?? null;

/** Starts the browser without background traffic. */
export function startBrowser(): Promise<Browser> {
  if (BROWSER_PATH === null) throw new Error('no browser is installed');
  const asRoot = process.getuid?.() === 0;
  return puppeteer.launch({
    executablePath: BROWSER_PATH,
    // A generous limit, so that only a hanging browser fails, not a loaded machine.
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
