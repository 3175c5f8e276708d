import { existsSync } from 'node:fs';
import puppeteer, { type Browser, type LaunchOptions } from 'puppeteer-core';
import { bundleFitsMachine, type UnpackedChromium, unpackChromium } from '../../src/adapters/pdf/chromium-bundle.ts';
import { CHROMIUM_CACHE } from '../unit/pdf/support.ts';
import { toolPath } from './tools.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'microsoft-edge-stable'];

const installed = process.env.CHROMIUM_PATH || (NAMES.map(toolPath).find((path) => path !== null) ?? null);
/** The Chromium of the npm package, which the service has for its PDFs: for tests where no other is on the PATH. */
const bundle = installed === null && bundleFitsMachine() ? await unpackChromium(CHROMIUM_CACHE) : null;

/** The browser for tests of web pages; null where none is on the PATH, and the npm package has none for the machine. */
export const BROWSER_PATH = installed ?? bundle?.executable ?? null;

/** Starts the browser without background traffic. */
export function startBrowser(): Promise<Browser> {
  if (BROWSER_PATH === null) throw new Error('no browser is installed');
  // Chromium's sandbox refuses to run as root. The npm package has no helper for it where a machine denies user namespaces.
  const sandbox = process.getuid?.() !== 0 && bundle === null;
  return puppeteer.launch({
    executablePath: BROWSER_PATH,
    ...(bundle === null ? {} : optionsOf(bundle)),
    // A generous limit, so that only a hanging browser fails, not a loaded machine.
    timeout: 55_000,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...(sandbox ? [] : ['--no-sandbox']),
    ],
  });
}

/** The npm package's browser is the headless shell, and brings the libraries and the font that a machine may lack. */
function optionsOf({ libraries, fontConfig }: UnpackedChromium): LaunchOptions {
  const fonts = existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: fontConfig };
  return { headless: 'shell', env: { ...process.env, LD_LIBRARY_PATH: libraries, ...fonts } };
}
