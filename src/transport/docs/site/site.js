import { showExamples } from './examples.js';
import { offerTestKey } from './test-key.js';
import { TEXTS } from './texts.js';

const texts = TEXTS[document.documentElement.lang];
const finds = document.querySelectorAll('.find');
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
  const { makeSearch } = await import('./search.js');
  dialog ??= makeSearch(document.body.dataset.search);
  if (!dialog.open) dialog.showModal();
}
for (const find of finds) {
  find.hidden = false;
  find.addEventListener('click', search);
}
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
