// Runs in the browser. Compares the SHA-256 of a file with those of the invoice's documents, so that the file need not
// be sent. Without this script, or if the browser provides no digests (plain HTTP), the form sends the file.
const form = document.querySelector('form');
const input = form?.querySelector('input');

if (form && input && globalThis.crypto?.subtle) {
  const documents = JSON.parse(form.dataset.documents);
  document.documentElement.classList.add('local');

  const show = (outcome) => {
    for (const each of document.querySelectorAll('[data-outcome]')) each.hidden = each.dataset.outcome !== outcome;
  };

  const outcomeOf = async (file) => {
    // A file of another size cannot be a document of the invoice, so a large one need not be read.
    if (!documents.some(({ size }) => size === file.size)) return 'other';
    const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
    const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
    return documents.find(({ sha256 }) => sha256 === hex)?.kind ?? 'other';
  };

  const check = async (file) => {
    form.querySelector('.chosen').textContent = file?.name ?? '';
    show(file ? await outcomeOf(file).catch(() => 'failed') : 'no-file');
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    check(input.files[0]);
  });
  input.addEventListener('change', () => check(input.files[0]));
  // Without this, a file dropped outside the form would replace the page.
  for (const type of ['dragover', 'drop']) addEventListener(type, (event) => event.preventDefault());
  form.addEventListener('dragover', () => form.classList.add('over'));
  form.addEventListener('dragleave', () => form.classList.remove('over'));
  form.addEventListener('drop', (event) => {
    form.classList.remove('over');
    input.value = '';
    check(event.dataTransfer.files[0]);
  });
}
