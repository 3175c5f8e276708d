import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'puppeteer-core';

/** The rules of axe whose findings depend on the colours of a page. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the serious findings of axe. It runs in an isolated world, which the page's policies do not affect.
 * @param rules `colours`: for another theme of a page that was checked against all rules before
 */
export async function violations(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const session = await page.createCDPSession();
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
  // Only violations are needed, and finding the selectors of passed checks takes most of the time.
  const options = { resultTypes: ['violations'], ...(rules === 'colours' && { runOnly: COLOUR_RULES }) };
  const expression = `${axe}; axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, impact, nodes }) => impact + ' ' + id + ' ' + nodes.map(({ html }) => html).join()))`;
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description);
  return (result.value as string[]).filter((each) => !/^(minor|moderate) /.test(each));
}
