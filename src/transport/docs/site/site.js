import { showExamples } from './examples.js';
import { offerTestKey } from './test-key.js';
import { TEXTS } from './texts.js';

const texts = TEXTS[document.documentElement.lang];
const find = document.querySelector('.find');
const menu = document.querySelector('.menu');

/** Anchors of the page that was at `/docs` before the guides were. */
const MOVED = /^#(?:\/|reference$|quick-start$|errors$|rules$|test-environment$|warnings$|verify-a-webhook$|clients$)/;
if (location.pathname === '/docs' && MOVED.test(location.hash)) location.replace(`/docs/interactive${location.hash}`);

menu.hidden = false;
document.body.classList.add('with-menu');
menu.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open');
  menu.setAttribute('aria-expanded', String(isOpen));
});

let dialog = null;
async function search() {
  if (dialog?.open) return;
  if (dialog) return dialog.showModal();
  const { openSearch } = await import('./search.js');
  dialog ??= await openSearch(document.body.dataset.search);
}
find.hidden = false;
find.addEventListener('click', search);
addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  const isTyping = target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
  const asked = (key === '/' && !ctrlKey && !metaKey && !altKey && !isTyping) || (key === 'k' && (ctrlKey || metaKey));
  if (!asked) return;
  event.preventDefault();
  void search();
});

showExamples(texts);
offerTestKey(texts);
