import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLanguage } from './language.tsx';

interface ConfirmedButtonProps {
  readonly children: ComponentChildren;
  /** What happens, and whether it can be undone. */
  readonly question: string;
  readonly onConfirm: () => void;
}

/** A button whose action cannot be undone: a dialog asks first. The Escape key closes it. */
export function ConfirmedButton({ children, question, onConfirm }: ConfirmedButtonProps) {
  const { texts } = useLanguage();
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        {children}
      </button>
      {isOpen && (
        <dialog ref={dialog} aria-labelledby={id} onClose={() => setOpen(false)}>
          <p id={id}>{question}</p>
          <form method="dialog" class="actions">
            <button type="submit" class="secondary">
              {texts.secret.cancel}
            </button>
            <button type="submit" class="danger" onClick={onConfirm}>
              {children}
            </button>
          </form>
        </dialog>
      )}
    </>
  );
}
