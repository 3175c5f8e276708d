import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS } from './search-options.ts';
import { TEXTS } from './texts.js';

/** Maximum number of results that are shown. */
const MOST = 12;

/**
 * Makes the dialog of the search, which is not open yet, and begins to load the index. The index is a file of the site,
 * so typed texts do not leave the browser.
 * @param address of the index
 */
export function makeSearch(address) {
  const texts = TEXTS[document.documentElement.lang];
  const dialog = document.createElement('dialog');
  dialog.className = 'search';
  dialog.setAttribute('aria-label', texts.search);
  const input = document.createElement('input');
  Object.assign(input, { type: 'search', placeholder: texts.search, autocomplete: 'off', spellcheck: false });
  input.setAttribute('aria-label', texts.search);
  const close = document.createElement('button');
  Object.assign(close, { type: 'button', textContent: texts.close });
  close.addEventListener('click', () => dialog.close());
  const status = document.createElement('p');
  status.setAttribute('role', 'status');
  const results = document.createElement('ol');
  dialog.append(input, close, status, results);
  document.body.append(dialog);

  let index = null;
  const load = async () => {
    const answer = await fetch(address).catch(() => null);
    if (!answer?.ok) {
      status.textContent = texts.failed;
      return;
    }
    index = MiniSearch.loadJSON(await answer.text(), SEARCH_OPTIONS);
    show();
  };
  const show = () => {
    if (index === null) return;
    const words = input.value.slice(0, 200);
    const found = index.search(words, {
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
      boost: { title: 4, page: 2 },
    });
    status.textContent = words.trim() === '' ? '' : texts.results(found.length);
    results.replaceChildren(...found.slice(0, MOST).map(resultOf));
  };
  input.addEventListener('input', show);
  dialog.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    const stops = [input, ...results.querySelectorAll('a')];
    const step = event.key === 'ArrowDown' ? 1 : -1;
    stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
  });
  input.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') results.querySelector('a')?.click();
  });
  // A link within the current page loads no other page.
  results.addEventListener('click', () => dialog.close());
  void load();
  return dialog;
}

/** @param language the language of a page that does not exist in the reader's language; otherwise absent */
function resultOf({ id, title, page, language }) {
  const link = document.createElement('a');
  link.href = id;
  link.textContent = title;
  if (language) {
    Object.assign(link, { hreflang: language, lang: language });
    const mark = document.createElement('span');
    Object.assign(mark, {
      className: 'language',
      lang: document.documentElement.lang,
      textContent: TEXTS[document.documentElement.lang].english,
    });
    link.append(' ', mark);
  }
  const item = document.createElement('li');
  item.append(link);
  if (page !== '') {
    const where = document.createElement('span');
    where.textContent = page;
    link.append(' ', where);
  }
  return item;
}
