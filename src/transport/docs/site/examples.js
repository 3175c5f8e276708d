/** The origins that stand for the service in the guides. */
const STANDING_FOR_SERVICE = /(?:https?:\/\/)?(?:localhost|127\.0\.0\.1):3000|https:\/\/invoices\.example/g;
/** The name under which the browser keeps the reader's choice of a language. The site keeps nothing else. */
const CHOICE = 'docs-language';

/** Shows the examples with the origin of this page, neighbouring ones as tabs, each with a button that copies it. */
export function showExamples(texts) {
  for (const text of textsOf(document.querySelectorAll('article pre')))
    text.data = text.data.replaceAll(STANDING_FOR_SERVICE, (found) =>
      found.startsWith('http') ? location.origin : location.origin.replace('http://', ''),
    );
  const groups = [...document.querySelectorAll('.examples')].map((group) => tabsOf(group, texts));
  const choose = (title) => groups.map((show) => show(title));
  for (const group of document.querySelectorAll('.examples')) {
    group.addEventListener('choice', ({ detail }) => {
      keepChoice(detail);
      choose(detail);
    });
  }
  const chosen = keptChoice();
  if (chosen !== null) choose(chosen);
  for (const each of document.querySelectorAll('article pre')) addCopyButton(each, texts);
}

/** Returns the language that was chosen on an earlier page; null if the browser keeps none. */
function keptChoice() {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null;
  }
}

/** Keeps the choice for other pages, if the browser allows it. */
function keepChoice(title) {
  try {
    localStorage.setItem(CHOICE, title);
  } catch {
    // The choice is lost when the page is left.
  }
}

/** Yields the text nodes within elements. */
export function* textsOf(elements) {
  for (const element of elements) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) yield walker.currentNode;
  }
}

/** Makes tabs of a group. @returns a function that shows the tab of a title, if the group has it */
function tabsOf(group, texts) {
  const panels = [...group.children];
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', texts.examples);
  const tabs = panels.map((panel) => {
    const tab = document.createElement('button');
    Object.assign(tab, { type: 'button', role: 'tab', textContent: panel.dataset.title });
    panel.setAttribute('role', 'tabpanel');
    tab.addEventListener('click', () => choose(tab));
    return tab;
  });
  const choose = (tab) => {
    group.dispatchEvent(new CustomEvent('choice', { detail: tab.textContent }));
    tab.focus();
  };
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step) choose(tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length]);
  });
  list.append(...tabs);
  group.prepend(list);
  const show = (title) => {
    if (!panels.some((panel) => panel.dataset.title === title)) return;
    for (const [index, tab] of tabs.entries()) {
      const isChosen = tab.textContent === title;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      panels[index].hidden = !isChosen;
    }
  };
  show(panels[0].dataset.title);
  return show;
}

function addCopyButton(block, texts) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'copy', textContent: texts.copy });
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = texts.copied;
    setTimeout(() => {
      button.textContent = texts.copy;
    }, 2000);
  });
  block.append(button);
}
