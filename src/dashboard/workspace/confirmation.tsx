import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { AccountForm } from '../account/account-form.tsx';
import { useLanguage } from '../interface/language.tsx';

/**
 * Asks the signed-in person for the password, in a dialog. Requests of several callers share one dialog.
 * @returns whether the service has accepted the password; false if the person closes the dialog
 */
export type AskForPassword = () => Promise<boolean>;

const ConfirmationContext = createContext<AskForPassword>(async () => false);

export function useConfirmation(): AskForPassword {
  return useContext(ConfirmationContext);
}

interface Asked {
  readonly answer: Promise<boolean>;
  readonly end: (isConfirmed: boolean) => void;
}

/**
 * Lets the pages inside it ask for the password, which live documents need (`confirmation_required`).
 * @param email the person's address, for password managers
 */
export function Confirmation({ email, children }: { readonly email: string; readonly children: ComponentChildren }) {
  const { texts } = useLanguage();
  const { title, lead, submit } = texts.confirmation;
  const [isOpen, setOpen] = useState(false);
  const asked = useRef<Asked | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const ask: AskForPassword = useMemo(
    () => () => {
      if (asked.current === null) {
        let end: Asked['end'] = () => undefined;
        const answer = new Promise<boolean>((resolve) => {
          end = resolve;
        });
        asked.current = { answer, end };
        setOpen(true);
      }
      return asked.current.answer;
    },
    [],
  );
  function end(isConfirmed: boolean): void {
    asked.current?.end(isConfirmed);
    asked.current = null;
  }
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  useEffect(() => () => end(false), []);
  return (
    <ConfirmationContext.Provider value={ask}>
      {children}
      {isOpen && (
        <dialog
          ref={dialog}
          aria-labelledby={id}
          aria-describedby={`${id}lead`}
          onClose={() => {
            end(false);
            setOpen(false);
          }}
        >
          <h2 id={id}>{title}</h2>
          <p id={`${id}lead`}>{lead}</p>
          <AccountForm
            path="confirm"
            fields={['password']}
            username={email}
            submit={submit}
            onSuccess={() => {
              end(true);
              // Returns the focus to where it was, which the removal of the dialog would not.
              dialog.current?.close();
            }}
          />
          <p class="actions">
            <button type="button" class="secondary" onClick={() => dialog.current?.close()}>
              {texts.secret.cancel}
            </button>
          </p>
        </dialog>
      )}
    </ConfirmationContext.Provider>
  );
}
