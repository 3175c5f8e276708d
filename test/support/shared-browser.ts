import { test } from 'vitest';
import { startBrowser } from './browser.ts';

const withChromium = test.extend(
  'chromium',
  { scope: 'worker' },
  // biome-ignore lint/correctness/noEmptyPattern: Vitest takes from the pattern which fixtures this one needs
  async ({}, { onCleanup }) => {
    const browser = await startBrowser();
    onCleanup(() => browser.close());
    return browser;
  },
);

/**
 * The browser that the test files of a worker process share: the fixture `browser` of its hooks and tests. A file opens
 * contexts of its own, which are closed at its end; the default context, whose cookies and storage would outlive the
 * file, stays unused.
 */
export const withSharedBrowser = withChromium.extend('browser', { scope: 'file' }, ({ chromium }, { onCleanup }) => {
  onCleanup(async () => {
    const own = chromium.browserContexts().filter((each) => each !== chromium.defaultBrowserContext());
    await Promise.all(own.map((each) => each.close()));
  });
  return chromium;
});
