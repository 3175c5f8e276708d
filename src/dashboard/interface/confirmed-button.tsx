import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { focusContent } from './content-focus.ts';
import { useLanguage } from './language.tsx';

interface ConfirmedButtonProps {
  readonly children: ComponentChildren;
  /** The text of the dialog: what will happen, and whether it can be undone. */
  readonly question: string;
  /** The label and maximum length in characters of a reason, which is then required for the action. */
  readonly reason?: { readonly label: string; readonly maxLength: number };
  /** @param reason the reason as typed; empty if none was required */
  readonly onConfirm: (reason: string) => void;
}

/**
 * A button for an action that cannot be undone, or that affects all users. It opens a dialog to confirm. Escape closes
 * it.
 */
export function ConfirmedButton({ children, question, reason, onConfirm }: ConfirmedButtonProps) {
  const { texts } = useLanguage();
  const button = useRef<HTMLButtonElement>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [given, setGiven] = useState('');
  const id = useId();
  useLayoutEffect(
    () => () => {
      // The dialog has returned the focus to this button, which the confirmed action may remove.
      if (button.current && button.current === document.activeElement) focusContent();
    },
    [],
  );
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <>
      <button
        ref={button}
        type="button"
        class="quiet"
        onClick={() => {
          setGiven('');
          setOpen(true);
        }}
      >
        {children}
      </button>
      {isOpen && (
        <dialog ref={dialog} aria-labelledby={id} onClose={() => setOpen(false)}>
          <p id={id}>{question}</p>
          <form method="dialog">
            {reason && (
              <div class="field">
                <label for={`${id}reason`}>{reason.label}</label>
                <input
                  id={`${id}reason`}
                  name="reason"
                  type="text"
                  dir="auto"
                  maxLength={reason.maxLength}
                  autocomplete="off"
                  value={given}
                  onInput={({ currentTarget }) => setGiven(currentTarget.value)}
                />
              </div>
            )}
            <p class="actions">
              <button type="submit" class="secondary" value="cancel">
                {texts.secret.cancel}
              </button>
              <button
                type="submit"
                class="danger"
                disabled={reason !== undefined && given.trim() === ''}
                onClick={() => onConfirm(given.trim())}
              >
                {children}
              </button>
            </p>
          </form>
        </dialog>
      )}
    </>
  );
}
