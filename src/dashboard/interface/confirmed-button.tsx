import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { focusContent } from './content-focus.ts';
import { useLanguage } from './language.tsx';

interface ConfirmedButtonProps {
  readonly children: ComponentChildren;
  /** The text of the dialog: it says what happens, and whether it can be undone. */
  readonly question: string;
  readonly onConfirm: () => void;
}

/** A button whose action cannot be undone: a dialog asks first. The Escape key closes it. */
export function ConfirmedButton({ children, question, onConfirm }: ConfirmedButtonProps) {
  const { texts } = useLanguage();
  const button = useRef<HTMLButtonElement>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  useLayoutEffect(
    () => () => {
      // The confirmed action can remove this button, to which the dialog has given the focus back.
      if (button.current && button.current === document.activeElement) focusContent();
    },
    [],
  );
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <>
      <button ref={button} type="button" class="quiet" onClick={() => setOpen(true)}>
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
