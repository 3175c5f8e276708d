import type { KeyInput, Page } from 'puppeteer-core';

/** More key strokes than any page has focusable elements. */
const MOST_STROKES = 200;

/** Presses Tab until the focus is on an element. @throws if the keyboard does not reach it */
export async function tabTo(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector);
  const isThere = () =>
    page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector.replace(/\s+$/, ''));
  for (let strokes = 0; !(await isThere()); strokes++) {
    if (strokes > MOST_STROKES) throw new Error(`Tab does not reach ${selector}`);
    await page.keyboard.press('Tab');
  }
}

/** Follows a link or presses a button by the keyboard. */
export async function pressAt(page: Page, selector: string, key: KeyInput = 'Enter'): Promise<void> {
  await tabTo(page, selector);
  await page.keyboard.press(key);
}

/** Replaces the text of a field. */
export async function typeAt(page: Page, selector: string, text: string): Promise<void> {
  await tabTo(page, selector);
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.keyboard.type(text);
}

/** Chooses an option of a list by its value, with the arrow keys. */
export async function chooseAt(page: Page, selector: string, value: string): Promise<void> {
  await tabTo(page, selector);
  await page.keyboard.press('Home');
  for (
    let strokes = 0;
    (await page.$eval(selector, (field) => (field as HTMLSelectElement).value)) !== value;
    strokes++
  ) {
    if (strokes > MOST_STROKES) throw new Error(`${selector} has no ${value}`);
    await page.keyboard.press('ArrowDown');
  }
}
